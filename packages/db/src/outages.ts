import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import { createReach, type Probe, type Reach, type Service } from '@paddock/runtime/reach';
import { sql } from 'kysely';
import type { Db } from './schema/tables.ts';

// A row of `outages` says that a probe of some process was not answered. It holds back the making of
// workers, and tells people. Each process claims tasks by the word of its own probes alone.

/** What a row calls a service: GitHub, or the cluster as `workers.cluster` names it. */
const ROW_OF = { github: 'github', cluster: 'default' } as const satisfies Record<Service, string>;

/** Notes that a service is away. The first reason stays. */
export const noteAway = (db: Db, service: string, message: string) =>
  db
    .insertInto('outages')
    .values({ service, message })
    .onConflict((conflict) => conflict.doNothing())
    .execute();

/** Notes that a service answers, whoever noted that it was away. */
export const noteBack = (db: Db, service: string) =>
  db.deleteFrom('outages').where('service', '=', service).execute();

/** For a SELECT: the services that are away, as their rows call them. */
export const AWAY_SERVICES = sql<string[]>`array(select service from outages order by service)`;

export type Reaches = Readonly<Record<Service, Reach>>;

export interface ReachesOptions {
  readonly db: Db;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  readonly metrics: Metrics;
  readonly probes: Readonly<Record<Service, Probe>>;
  /** Called when a service is back. */
  readonly onBack: () => void;
}

/** What this process knows of GitHub and the cluster, and tells others by `outages`. */
export function createReaches(options: ReachesOptions): Reaches {
  const { db, log, metrics, probes } = options;
  const away = metrics.gauge(
    'paddock_service_away',
    '1 while this process’ probes of GitHub or the cluster are not answered',
    ['service'],
  );
  const reachOf = (service: Service): Reach => {
    let since = 0;
    away.set({ service }, 0);
    return createReach({
      probe: probes[service],
      onAway(message) {
        since = performance.now();
        away.set({ service }, 1);
        log.warn(`${NAMES[service]} is away: tasks that need it wait`, {
          message,
        });
      },
      onBack() {
        away.set({ service }, 0);
        const awaySeconds = Math.round((performance.now() - since) / 1_000);
        log.info(`${NAMES[service]} is back`, { awaySeconds });
        options.onBack();
      },
      share: (message) =>
        message === undefined
          ? noteBack(db, ROW_OF[service])
          : noteAway(db, ROW_OF[service], message),
    });
  };
  return { github: reachOf('github'), cluster: reachOf('cluster') };
}

const NAMES = { github: 'GitHub', cluster: 'the API server' } as const;

/** Deletes rows of services that answer us: who wrote them died, or only its calls fail. */
export async function confirmOutages(
  db: Db,
  reaches: Reaches,
  rows: readonly string[],
): Promise<void> {
  for (const service of ['github', 'cluster'] as const) {
    const row = ROW_OF[service];
    const reach = reaches[service];
    if (!rows.includes(row) || reach.isAway() || (await reach.report())) continue;
    await noteBack(db, row);
  }
}
