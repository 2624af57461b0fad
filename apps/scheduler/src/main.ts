import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createWaits } from '@paddock/db/breakers/waits';
import { breakerRules } from '@paddock/db/breakers/breaker-settings';
import { clientConfig, connectDatabase } from '@paddock/db/connection/connect';
import { guardedDatabaseUrl } from '@paddock/db/connection/database-url';
import { watchOutages } from '@paddock/db/connection/outage';
import { createFitness, waitUntilFit } from '@paddock/db/connection/wait-until-fit';
import { declareSharedGauges } from '@paddock/db/gauges/shared-gauges';
import { connectGitHub } from '@paddock/github/connect';
import { createRunnerGroups } from '@paddock/github/runner-groups';
import { clusterEvents } from '@paddock/kube/cluster-events';
import { connectConfiguredCluster } from '@paddock/kube/cluster-settings';
import { createExecutor } from '@paddock/queue/executor';
import { executorEvents } from '@paddock/queue/executor-events';
import { executorRules } from '@paddock/queue/executor-settings';
import { declareQueueDepth } from '@paddock/queue/queue-depth';
import { createHealthApp } from '@paddock/runtime/health';
import { listenHttp, serveUntilStopped } from '@paddock/runtime/http-server';
import { createLogger } from '@paddock/runtime/logger';
import { main } from '@paddock/runtime/main';
import { createMetrics } from '@paddock/runtime/metrics';
import { printConfigIfAsked } from '@paddock/runtime/read-config';
import { run } from '@paddock/runtime/run';
import { createWake } from '@paddock/runtime/wake';
import { matchingSettings, readSchedulerConfig, settings } from './config.ts';
import { createEvents } from './events.ts';
import { followPods } from './following/follow-pods.ts';
import { declareSchedulerGauges } from './scheduler-gauges.ts';
import { schedulerKinds } from './kinds.ts';
import { createRecentRunJobs } from './stopping/recent-run-jobs.ts';
import { runMatching } from './matching/match-loop.ts';
import { createPoolsLoader } from './pools/load-pools.ts';
import { createPoolsEvents } from './pools/pools-events.ts';
import { createPoolsFile } from './pools/pools-file.ts';
import { runProbing } from './probing/probe.ts';

/**
 * Below the longest wait for a lock, so that a replica that waits for a stalled scheduler gets the
 * lock and does not fail.
 */
const IDLE_TRANSACTION_MS = 8_000;

await main(async () => {
  const config = readSchedulerConfig(process.env);
  if (printConfigIfAsked(process.argv, settings, config)) return;

  const { outage, log } = watchOutages(createLogger('scheduler', config.logLevel));
  const metrics = createMetrics(log);
  const events = createEvents(log, metrics);
  const poolsEvents = createPoolsEvents(log, metrics);
  const holder = `scheduler/${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;

  const { schema } = config;
  const databaseOptions = {
    url: guardedDatabaseUrl(config, log),
    schema,
    applicationName: 'paddock-scheduler',
    outage,
    onCut: events.connectionCut,
  };
  const connection = connectDatabase({
    ...databaseOptions,
    poolSize: config.poolSize,
    idleTransactionMs: IDLE_TRANSACTION_MS,
  });
  const { db } = connection;
  declareSharedGauges(metrics, db);
  declareQueueDepth(metrics, db);
  declareSchedulerGauges(metrics, db, matchingSettings(config).appIds);
  const github = connectGitHub({
    apiUrl: config.github.apiUrl,
    apps: config.github.apps.map(({ appId, privateKey }) => ({
      appId,
      privateKey: privateKey.reveal(),
    })),
    requestTimeoutMs: config.githubTimeoutMs,
    waits: createWaits(db, events.githubAsksToWait),
  });
  const runnerGroups = createRunnerGroups({ onRefused: events.runnerGroupRefused });
  const cluster = connectConfiguredCluster(config, clusterEvents(metrics, log));

  const poolsFile = createPoolsFile({
    path: config.configPath,
    onRefused: poolsEvents.fileRefused,
    onAccepted: poolsEvents.fileAccepted,
  });
  const poolsLoader = createPoolsLoader({
    db,
    file: poolsFile,
    loadedBy: `scheduler on ${hostname()}`,
    refreshMs: config.poolsRefreshMs,
    reconsiderHours: config.reconsiderHours,
    events: poolsEvents,
  });

  const ownConfig = clientConfig(databaseOptions);
  const whyNotReady = createFitness({ db, schema, config: ownConfig });
  let isStopping = false;
  const health = createHealthApp({
    registry: metrics.registry,
    whyNotReady: async () => (isStopping ? 'the service is stopping' : whyNotReady()),
    warning: poolsFile.warning,
  });
  const http = await listenHttp(health, { port: config.httpPort, host: config.httpHost });

  const {
    stopIdleApartMs: idleApartMs,
    stopLastLookMs: lastLookMs,
    stopOfflineMs: offlineMs,
    stopRetryMs: retryMs,
  } = config;
  const stopRules = { idleApartMs, lastLookMs, offlineMs, retryMs };
  const rules = breakerRules(config);
  const stopping = { stopRules, breakerRules: rules, recentRunJobs: createRecentRunJobs() };
  const executor = createExecutor({
    connection,
    config: ownConfig,
    schema,
    kinds: schedulerKinds({ db, github, runnerGroups, cluster, events, ...stopping }),
    holder,
    secrets: [config.databaseUrl, ...config.github.apps.map(({ privateKey }) => privateKey)],
    events: executorEvents(metrics, log),
    ...executorRules(config),
  });
  outage.onAnswer(executor.wake);
  const { matchTickMs: tickMs, forgottenAfterMs } = config;
  const probe = createWake();
  const matching = {
    db,
    config: ownConfig,
    schema,
    tickMs,
    forgottenAfterMs,
    settings: matchingSettings(config),
    events,
    onProbed: probe.ring,
  };
  const { unexplainedGraceMs, leaseMs, leaseRenewMs: renewMs, stuckAfterMs } = config;
  const pace = { unexplainedGraceMs, leaseMs, renewMs, stuckAfterMs };
  const following = { db, cluster, events, breakerRules: rules, holder, ...pace };
  const probing = { db, github, cluster, events, breakerRules: rules, holder };
  const onceFit = (part: (signal: AbortSignal) => Promise<void>) => async (signal: AbortSignal) => {
    await waitUntilFit({ whyNotReady, pollMs: 1_000, onUnfit: events.notReady }, signal);
    if (!signal.aborted) await part(signal);
  };

  try {
    await run(
      {
        http: serveUntilStopped(http, log),
        pools: onceFit(poolsLoader.run),
        matching: onceFit((signal) => runMatching(matching, signal)),
        executor: onceFit(executor.run),
        probing: onceFit((signal) => runProbing(probing, probe, signal)),
        following: onceFit((signal) => followPods(following, signal)),
      },
      { graceMs: config.drainMs, log, onStop: () => void (isStopping = true) },
    );
  } finally {
    cluster.close();
    await connection.close();
    await outage.close();
  }
});
