import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createWaits } from '@paddock/db/entities/waits';
import { failureRules } from '@paddock/db/rules';
import { clientConfig, connectDatabase } from '@paddock/db/connection/connect';
import { guardedDatabaseUrl } from '@paddock/db/connection/database-url';
import { watchOutages } from '@paddock/db/connection/outage';
import { createFitness, waitUntilFit } from '@paddock/db/connection/wait-until-fit';
import { declareSharedGauges } from '@paddock/db/gauges/shared-gauges';
import { endRefusalsOfApp } from '@paddock/db/entities/refusals';
import { createReaches } from '@paddock/db/outages';
import { appEvents } from '@paddock/github/follow-apps';
import { connectGitHub } from '@paddock/github/connect';
import { followKeys, revealed } from '@paddock/github/follow-keys';
import { probeGitHub } from '@paddock/github/probe';
import { createRunnerGroups } from '@paddock/github/runner-groups';
import { connectCluster } from '@paddock/kube/connect';
import { probeCluster } from '@paddock/kube/call';
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
import { warnOfRules } from '@paddock/runtime/rules';
import { run } from '@paddock/runtime/run';
import { matchingSettings, readSchedulerConfig, settings } from './config.ts';
import { createEvents } from './events.ts';
import { followPods } from './following/follow-pods.ts';
import { createPodsSync } from './following/sync-pods.ts';
import { declareSchedulerGauges } from './scheduler-gauges.ts';
import { schedulerKinds } from './kinds.ts';
import { createRecentRunJobs } from './stopping/recent-run-jobs.ts';
import { runMatching } from './matching/match-loop.ts';
import { createPoolsLoader } from './pools/load-pools.ts';

await main(async () => {
  const config = readSchedulerConfig(process.env);
  if (printConfigIfAsked(process.argv, settings, config)) return;

  const { outage, log } = watchOutages(createLogger('scheduler', config.logLevel));
  warnOfRules(process.env, log);
  const metrics = createMetrics(log);
  const events = createEvents(log, metrics);
  const holder = `scheduler/${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;

  const { schema } = config;
  const databaseOptions = {
    url: guardedDatabaseUrl(config, log),
    schema,
    applicationName: 'paddock-scheduler',
    outage,
    onCut: events.connectionsCut,
  };
  const connection = connectDatabase({
    ...databaseOptions,
    poolSize: config.poolSize,
  });
  const { db } = connection;
  declareSharedGauges(metrics, db);
  declareQueueDepth(metrics, db);
  const github = connectGitHub({
    apiUrl: config.github.apiUrl,
    apps: config.github.apps.map(revealed),
    requestTimeoutMs: config.githubTimeoutMs,
    waits: createWaits(db, events.githubAsksToWait),
  });
  declareSchedulerGauges(metrics, db, github);
  const apps = followKeys({
    config,
    environment: process.env,
    github,
    events: appEvents(metrics, log),
    onNews: (appId) => endRefusalsOfApp(db, appId),
  });
  const runnerGroups = createRunnerGroups({ onRefused: events.runnerGroupRefused });
  const { kubeconfig: kubeconfigFile, kubeTimeoutMs: requestTimeoutMs } = config;
  const cluster = connectCluster({ kubeconfigFile, requestTimeoutMs });
  let wakeExecutor: (() => void) | undefined;
  const reach = createReaches({
    db,
    log,
    metrics,
    probes: {
      github: (signal) => probeGitHub(github, signal),
      cluster: (signal) => probeCluster(cluster, signal),
    },
    onBack: () => wakeExecutor?.(),
  });

  const poolsLoader = createPoolsLoader({
    db,
    cluster,
    path: config.configPath,
    refreshMs: config.poolsRefreshMs,
    reconsiderHours: config.reconsiderHours,
    events,
  });

  const ownConfig = clientConfig(databaseOptions);
  const whyNotReady = createFitness({ db, schema, config: ownConfig });
  let isStopping = false;
  const health = createHealthApp({
    registry: metrics.registry,
    whyNotReady: async () => (isStopping ? 'the service is stopping' : whyNotReady()),
    warning: () => poolsLoader.warning() ?? apps.warning(),
  });
  const http = await listenHttp(health, { port: config.healthPort, host: config.httpHost });

  const {
    stopIdleApartMs: idleApartMs,
    stopLastLookMs: lastLookMs,
    stopOfflineMs: offlineMs,
    stopRetryMs: retryMs,
  } = config;
  const stopRules = { idleApartMs, unreadMs: offlineMs, lastLookMs, offlineMs, retryMs };
  const failing = { failureRules: failureRules(config) };
  const stopping = {
    stopRules,
    ...failing,
    reach,
    recentRunJobs: createRecentRunJobs(),
  };
  const { unexplainedGraceMs, leaseMs, leaseRenewMs: renewMs, stuckAfterMs } = config;
  const recording = { db, events, cluster, reach, unexplainedGraceMs, ...failing };
  const pods = createPodsSync({ ...recording, outage, onSynced: () => wakeExecutor?.() });
  const executor = createExecutor({
    connection,
    config: ownConfig,
    schema,
    kinds: schedulerKinds({ db, github, runnerGroups, cluster, events, ...stopping }),
    isAway: (service) => reach[service].isAway() || (service === 'cluster' && !pods.isSynced()),
    holder,
    secrets: apps.secrets,
    events: executorEvents(metrics, log),
    ...executorRules(config),
  });
  wakeExecutor = executor.wake;
  outage.onAnswer(executor.wake);
  const { matchTickMs: tickMs, forgottenAfterMs } = config;
  const matching = {
    db,
    config: ownConfig,
    schema,
    tickMs,
    forgottenAfterMs,
    settings: matchingSettings(config, github),
    events,
    reach,
    pods,
  };
  const following = { ...recording, holder, leaseMs, renewMs, stuckAfterMs };
  const onceFit = (part: (signal: AbortSignal) => Promise<void>) => async (signal: AbortSignal) => {
    await waitUntilFit({ whyNotReady, pollMs: 1_000, onUnfit: events.notReady }, signal);
    if (!signal.aborted) await part(signal);
  };

  try {
    await run(
      {
        http: serveUntilStopped(http, log),
        pools: onceFit(poolsLoader.run),
        apps: apps.run,
        matching: onceFit((signal) => runMatching(matching, signal)),
        executor: onceFit(executor.run),
        reachingGitHub: reach.github.run,
        reachingCluster: reach.cluster.run,
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
