import { clientConfig, connectDatabase } from '@paddock/db/connection/connect';
import { guardedDatabaseUrl } from '@paddock/db/connection/database-url';
import { isBadData, saysAway } from '@paddock/db/connection/errors';
import { watchOutages } from '@paddock/db/connection/outage';
import { createFitness, waitUntilFit } from '@paddock/db/connection/wait-until-fit';
import { declareSharedGauges } from '@paddock/db/gauges/shared-gauges';
import { wantExtraPasses } from '@paddock/db/schedules/schedules';
import { appEvents, followApps } from '@paddock/github/follow-apps';
import { createHealthApp } from '@paddock/runtime/health';
import { listenHttp, serveUntilStopped } from '@paddock/runtime/http-server';
import { createLogger } from '@paddock/runtime/logger';
import { main } from '@paddock/runtime/main';
import { createMetrics } from '@paddock/runtime/metrics';
import { printConfigIfAsked } from '@paddock/runtime/read-config';
import { warnOfRules } from '@paddock/runtime/rules';
import { run } from '@paddock/runtime/run';
import { createBatcher } from './batcher.ts';
import { createBodyBudget } from './read-body.ts';
import { type AppSecrets, readApps, readIngressConfig, settings } from './config.ts';
import { createIngressEvents } from './events.ts';
import { createGaps } from './gaps.ts';
import { createListener } from './http.ts';
import { createPools } from './pools.ts';
import { createReadiness } from './readiness.ts';
import { createReceiveDelivery } from './receive-delivery.ts';
import { createWriteDeliveries } from './write-deliveries.ts';

/**
 * Small enough to be written in time, and far below the limit of the one JSONB value of a batch.
 */
const MAX_BATCH_BYTES = 8_388_608;

await main(async () => {
  const config = readIngressConfig(process.env);
  if (printConfigIfAsked(process.argv, settings, config)) return;

  const { outage, log } = watchOutages(createLogger('ingress', config.logLevel));
  warnOfRules(process.env, log);
  const metrics = createMetrics(log);
  const budget = createBodyBudget(config);
  const events = createIngressEvents({ log, metrics, held: budget });

  const { schema, writeTimeoutMs, bodyTimeoutMs } = config;
  // PostgreSQL cancels and names a slow statement before we give up the connection.
  const statementTimeoutMs = Math.floor(0.8 * writeTimeoutMs);
  const database = {
    url: guardedDatabaseUrl(config, log),
    schema,
    connectTimeoutMs: writeTimeoutMs,
    outage,
    onCut: events.connectionsCut,
  };
  // Deliveries have their own connections. Their time limits fit into GitHub's 10 s.
  const writing = connectDatabase({
    ...database,
    poolSize: config.writers,
    applicationName: 'paddock-ingress-write',
    statementTimeoutMs,
    lockTimeoutMs: statementTimeoutMs,
    longestUseMs: writeTimeoutMs,
  });
  // So has readiness, which must not wait for other statements or a dead host.
  const checkOptions = {
    ...database,
    poolSize: 1,
    applicationName: 'paddock-ingress-check',
    statementTimeoutMs,
    longestUseMs: writeTimeoutMs,
  };
  const checking = connectDatabase(checkOptions);
  const reading = connectDatabase({
    ...database,
    poolSize: config.poolSize - config.writers - checkOptions.poolSize,
    applicationName: 'paddock-ingress',
  });
  declareSharedGauges(metrics, reading.db);

  const pools = createPools({
    db: reading.db,
    refreshMs: config.poolsRefreshMs,
    onChange: events.poolsInForce,
    onError: events.poolsUnavailable,
  });
  const fitness = createFitness({
    db: checking.db,
    schema,
    config: clientConfig(checkOptions),
    timeoutMs: config.answerTimeoutMs,
  });
  const readiness = createReadiness({
    whyUnfit: fitness,
    hasPools: () => pools.current() !== undefined,
  });
  const batcher = createBatcher({
    write: createWriteDeliveries(writing.db, pools, events.jobMoved),
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
    known: ({ id: appId, secrets }) => ({ appId, secrets }),
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

  let isStopping = false;
  const health = createHealthApp({
    registry: metrics.registry,
    whyNotReady: async () => (isStopping ? 'the service is stopping' : readiness.whyNot()),
    warning: followed.warning,
  });
  const host = config.httpHost;
  const healthServer = await listenHttp(health, { port: config.healthPort, host });
  const listener = createListener(receive, () => isStopping);
  const http = await listenHttp(listener, { port: config.httpPort, host }).catch(
    async (error: unknown) => {
      await healthServer.close();
      throw error;
    },
  );
  http.server.requestTimeout = bodyTimeoutMs;
  http.server.headersTimeout = bodyTimeoutMs;

  await run(
    {
      http: serveUntilStopped(http, log, healthServer),
      pools: async (signal) => {
        await waitUntilFit(
          { whyNotReady: fitness, pollMs: 1_000, onUnfit: events.notReady },
          signal,
        );
        await pools.run(signal);
      },
      gaps: gaps.run,
      apps: followed.run,
    },
    {
      graceMs: config.drainMs,
      log,
      onStop: () => {
        isStopping = true;
      },
    },
  );
  await Promise.all([writing, checking, reading].map((connection) => connection.close()));
  await outage.close();
});
