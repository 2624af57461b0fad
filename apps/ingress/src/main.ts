import { isBadData, saysAway } from '@paddock/db/connection/errors';
import { createFitness, type WhyNotReady } from '@paddock/db/connection/wait-until-fit';
import { declareSharedGauges } from '@paddock/db/gauges/shared-gauges';
import { runService } from '@paddock/db/run-service';
import { wantExtraPasses } from '@paddock/db/schedules/schedules';
import { appEvents } from '@paddock/github/follow-apps';
import { followApps } from '@paddock/github/follow-apps';
import { createBatcher } from './batcher.ts';
import { createBodyBudget } from './body-budget.ts';
import { type AppSecrets, readApps, readIngressConfig, settings } from './config.ts';
import { createRepeats } from './gaps.ts';
import { createIngressEvents } from './events.ts';
import { createGaps } from './gaps.ts';
import { createListener } from './http.ts';
import { createPools, type Pools } from './pools.ts';
import { createReceiveDelivery } from './receive-delivery.ts';
import { createWriteDeliveries } from './write-deliveries.ts';
import { createWriteHealth, type WriteHealth } from './write-health.ts';

/**
 * Small enough to be written in time, and far below the limit of the one JSONB value of a batch.
 */
const MAX_BATCH_BYTES = 8_388_608;

const declared = { environment: process.env, settings, read: readIngressConfig };

await runService('ingress', declared, async (config, service) => {
  const { log, metrics } = service;
  const budget = createBodyBudget(config);
  const events = createIngressEvents({ log, metrics, held: budget });

  const { schema, writeTimeoutMs, bodyTimeoutMs } = config;
  // PostgreSQL cancels and names a slow statement before we give up the connection.
  const statementTimeoutMs = Math.floor(0.8 * writeTimeoutMs);
  // Deliveries have their own connections. Their time limits fit into GitHub's 10 s.
  const inTime = {
    connectTimeoutMs: writeTimeoutMs,
    statementTimeoutMs,
    longestUseMs: writeTimeoutMs,
  };
  const writing = service.connect({
    ...inTime,
    poolSize: config.writers,
    applicationName: 'paddock-ingress-write',
    lockTimeoutMs: statementTimeoutMs,
  });
  // So has readiness, which must not wait for other statements or a dead host.
  const checking = service.connect({
    ...inTime,
    poolSize: 1,
    applicationName: 'paddock-ingress-check',
  });
  const reading = service.connect({
    connectTimeoutMs: writeTimeoutMs,
    poolSize: config.poolSize - config.writers - 1,
    applicationName: 'paddock-ingress',
  });
  declareSharedGauges(metrics, reading.db);

  const pools = createPools({
    db: reading.db,
    refreshMs: config.poolsRefreshMs,
    onChange: events.poolsInForce,
    onError: events.poolsUnavailable,
  });
  const writes = createWriteHealth();
  const batcher = createBatcher({
    write: createWriteDeliveries(writing.db, pools, events.jobMoved),
    maxBatch: config.maxBatch,
    maxBatchBytes: MAX_BATCH_BYTES,
    bytesOf: ({ payload }) => payload.length,
    writers: config.writers,
    maxWaitMs: config.answerTimeoutMs,
    onWritten: (ms) => {
      writes.forget();
      events.batchWritten(ms);
    },
    onFailed: (size, consequence, error) => {
      // Readiness itself finds out whether PostgreSQL is away.
      if (consequence === 'refused' && !isBadData(error) && !saysAway(error)) writes.failed(error);
      events.batchFailed(size, consequence, error);
    },
  });
  const gaps = createGaps({
    want: (passes) => wantExtraPasses(reading.db, passes),
    onGap: events.gapSeen,
    onError: events.gapNotReported,
  });
  let apps: readonly AppSecrets[] = config.apps;
  const followed = followApps({
    configPath: config.configPath,
    apps,
    read: (file, problems, readFile) => readApps(file, process.env, problems, readFile),
    known: ({ id: appId, secrets }) => ({ appId, secrets }),
    onChanged: (changed) => void (apps = changed),
    events: appEvents(metrics, log),
  });
  const receive = createReceiveDelivery({
    apps: () => apps,
    batcher,
    events,
    gaps,
    repeats: createRepeats(),
    answerTimeoutMs: config.answerTimeoutMs,
    budget,
    reducesIgnoredJobs: config.ignoredJobPayload === 'reduced',
  });

  const fitness = createFitness({ ...checking, schema, timeoutMs: config.answerTimeoutMs });
  const http = await service.serve(
    {
      whyNotReady: createReadiness({ whyNotReady: fitness, pools, writes }),
      warning: followed.warning,
    },
    {
      listener: createListener({ receive, isStopping: service.isStopping }),
      port: config.httpPort,
    },
  );
  http.server.requestTimeout = bodyTimeoutMs;
  http.server.headersTimeout = bodyTimeoutMs;

  return {
    http: http.part,
    pools: service.onceFit(fitness, pools.run),
    gaps: gaps.run,
    apps: followed.run,
  };
});

interface ReadinessOptions {
  /** Why the database is not ready. */
  readonly whyNotReady: WhyNotReady;
  readonly pools: Pick<Pools, 'current'>;
  readonly writes: Pick<WriteHealth, 'whyNot' | 'forget'>;
}

/** Says why no delivery can be taken now. */
function createReadiness({ whyNotReady, pools, writes }: ReadinessOptions): WhyNotReady {
  return async () => {
    const unfit = await whyNotReady();
    if (unfit !== undefined) {
      // This cause explains the failed writes, and its end will be seen here.
      writes.forget();
      return unfit;
    }
    if (pools.current() === undefined)
      return 'there is no pools document in the database yet: the scheduler loads it from its configuration file';
    return writes.whyNot();
  };
}
