import { isBadData, saysAway } from '@paddock/db/connection/errors';
import type { DeliveryToRecord } from '@paddock/db/deliveries/record-deliveries';
import { storeDeliveries } from '@paddock/db/deliveries/store-deliveries';
import { declareSharedGauges } from '@paddock/db/gauges/shared-gauges';
import { findHeldJobs } from '@paddock/db/jobs/held-jobs';
import { runService } from '@paddock/db/run-service';
import { wantExtraPasses } from '@paddock/db/schedules/schedules';
import { appEvents, followApps } from '@paddock/github/follow-apps';
import { createBatcher } from './batcher.ts';
import { createBodyBudget } from './read-body.ts';
import { type AppSecrets, readApps, readIngressConfig, settings } from './settings.ts';
import { createIngressEvents } from './events.ts';
import { createGaps } from './gaps.ts';
import { createListener } from './http.ts';
import { createPools } from './pools.ts';
import { createReadiness } from './readiness.ts';
import { createReceiveDelivery } from './receive-delivery.ts';

/**
 * Small enough to be written in time, and far below the limit of the one JSONB value of a batch.
 */
const MAX_BATCH_BYTES = 8_388_608;

const declared = { environment: process.env, settings, read: readIngressConfig };

await runService('ingress', declared, async (config, service) => {
  const { log, metrics } = service;
  const budget = createBodyBudget(config);
  const { writeTimeoutMs, bodyTimeoutMs } = config;
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
  const events = createIngressEvents({
    log,
    metrics,
    held: budget,
    lateAfterSeconds: config.lateAfterSeconds,
    findHeld: (jobIds) => findHeldJobs(reading.db, jobIds),
  });

  const pools = createPools({
    db: reading.db,
    refreshMs: config.poolsRefreshMs,
    onChange: events.poolsInForce,
    onError: events.poolsUnavailable,
  });
  const fitness = service.fitness({
    ...checking,
    timeoutMs: config.answerTimeoutMs,
    beside: 0,
  });
  const readiness = createReadiness({
    whyUnfit: fitness,
    hasPools: () => pools.current() !== undefined,
  });
  const batcher = createBatcher({
    write: async (batch: readonly DeliveryToRecord[]) =>
      storeDeliveries(writing.db, batch, pools.inForce(), events.jobsMoved),
    maxBatch: config.maxBatch,
    maxBatchBytes: MAX_BATCH_BYTES,
    bytesOf: ({ payload }) => payload.length,
    writers: config.writers,
    maxWaitMs: config.answerTimeoutMs,
    onWritten: (ms) => {
      readiness.forget();
      events.batchWritten(ms);
    },
    onFailed: (size, consequence, error) => {
      // Readiness itself finds out whether PostgreSQL is away.
      if (consequence === 'refused' && !isBadData(error) && !saysAway(error))
        readiness.writeFailed(error);
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
    known: (those) => those.map(({ id: appId, secrets }) => ({ appId, secrets })),
    onChanged: (changed) => void (apps = changed),
    events: appEvents(metrics, log),
  });
  const receive = createReceiveDelivery({
    apps: () => apps,
    batcher,
    events,
    gaps,
    answerTimeoutMs: config.answerTimeoutMs,
    budget,
    reducesIgnoredJobs: config.ignoredJobPayload === 'reduced',
  });

  const http = await service.serve(
    { whyNotReady: readiness.whyNot, refusals: [followed.refusal] },
    {
      listener: createListener(receive, service.isStopping),
      port: config.httpPort,
    },
  );
  http.server.requestTimeout = bodyTimeoutMs;
  http.server.headersTimeout = bodyTimeoutMs;

  return {
    http: http.part,
    pools: service.onceFit(pools.run),
    gaps: gaps.run,
    apps: followed.run,
  };
});
