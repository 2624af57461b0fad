import { connectDatabase } from '@paddock/db/connection/connect';
import { declareSharedGauges } from '@paddock/db/gauges/shared-gauges';
import { createReaches } from '@paddock/db/outages';
import { executorEvents } from '@paddock/queue/executor-events';
import { declareQueueDepth } from '@paddock/queue/queue-depth';
import { createLogger } from '@paddock/runtime/logger';
import { createMetrics, type Metrics } from '@paddock/runtime/metrics';
import { createConsoleEvents } from '../apps/console/src/events.ts';
import { createIngressEvents } from '../apps/ingress/src/events.ts';
import { createEvents as createReconcilerEvents } from '../apps/reconciler/src/events.ts';
import {
  declareAppCalls,
  declareReconcilerGauges,
} from '../apps/reconciler/src/reconciler-gauges.ts';
import { createEvents as createSchedulerEvents } from '../apps/scheduler/src/events.ts';
import { appEvents } from '../packages/github/src/follow-apps.ts';

/** As the registry has it; its own type lacks the names of the labels. */
interface Metric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly aggregator: string;
}

const log = createLogger('generate', 'error');

const answered = () => Promise.resolve(undefined);
const NO_ROOM = { heldBytes: 0, requests: 0 };
const OF_DELIVERIES = { lateAfterSeconds: 0, findHeld: () => Promise.resolve(new Set<number>()) };
const NO_PROBES = { github: answered, cluster: answered };

/**
 * The registries as the services fill them; test/src/documents.db.test.ts compares with the running
 * services. It reads no values.
 */
function declareAll(): Record<'ingress' | 'scheduler' | 'reconciler' | 'console', Metrics> {
  // Connections are made when the first statement runs.
  const { db } = connectDatabase({
    url: 'postgresql://nowhere',
    schema: 'paddock',
    poolSize: 1,
    applicationName: 'paddock-generate',
  });
  const declare = (fill: (metrics: Metrics) => void): Metrics => {
    const metrics = createMetrics();
    fill(metrics);
    appEvents(metrics, log);
    declareSharedGauges(metrics, db);
    return metrics;
  };
  const queueAndCluster = (metrics: Metrics) => {
    createReaches({ db, log, metrics, probes: NO_PROBES, onBack: () => undefined });
    executorEvents(metrics, log);
    declareQueueDepth(metrics, db);
  };
  const ofConsole = createMetrics();
  createConsoleEvents(log, ofConsole);
  return {
    ingress: declare(
      (metrics) => void createIngressEvents({ log, metrics, held: NO_ROOM, ...OF_DELIVERIES }),
    ),
    scheduler: declare((metrics) => {
      createSchedulerEvents(log, metrics);
      queueAndCluster(metrics);
    }),
    reconciler: declare((metrics) => {
      createReconcilerEvents({ log, metrics, ...OF_DELIVERIES });
      queueAndCluster(metrics);
      declareReconcilerGauges(metrics, db, { stopAlertMs: 0, recoveryLimit: 0 }, () => []);
      declareAppCalls(metrics, { appIds: [], budgetOf: () => undefined });
    }),
    console: ofConsole,
  };
}

/** A row for each metric: name, type, the services that have it, labels, meaning (H5). */
export function describeMetrics(): string {
  const all = Object.entries(declareAll()).flatMap(([service, metrics]) =>
    ownMetrics(metrics).map((metric) => ({ service, metric })),
  );
  const rows = Map.groupBy(all, ({ metric }) => metric.name)
    .values()
    .map((same) => rowOf(same.map(({ service }) => service).join(', '), same[0]?.metric));
  const head = ['| Name | Type | In | Labels | Meaning |', '|---|---|---|---|---|'];
  return [...head, ...rows.toArray().toSorted(), ''].join('\n');
}

const ownMetrics = ({ registry }: Metrics): Metric[] =>
  (registry.getMetricsAsArray() as unknown as Metric[]).filter(({ name }) =>
    name.startsWith('paddock_'),
  );

function rowOf(services: string, metric: Metric | undefined): string {
  const { name = '', type = '', help = '', labelNames = [], aggregator } = metric ?? {};
  const labels = labelNames.map((label) => `\`${label}\``).join(', ');
  const kind = aggregator === 'first' ? 'gauge of rows' : type;
  return `| \`${name}\` | ${kind} | ${services} | ${labels} | ${help} |`;
}
