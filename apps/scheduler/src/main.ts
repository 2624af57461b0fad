import { createWaits } from '@paddock/db/entities/waits';
import { failureRules } from '@paddock/db/rules';
import { queueEventChannel } from '@paddock/db/connection/schema-name';
import { declareSharedGauges } from '@paddock/db/gauges/shared-gauges';
import { endRefusalsOfApp } from '@paddock/db/entities/refusals';
import { createReaches } from '@paddock/db/outages';
import { runService } from '@paddock/db/run-service';
import { findNamespaces } from '@paddock/db/workers/worker-pods';
import { appEvents } from '@paddock/github/follow-apps';
import { connectGitHub } from '@paddock/github/connect';
import { followKeys, revealed } from '@paddock/github/follow-keys';
import { probeGitHub } from '@paddock/github/probe';
import { createRunnerGroups } from '@paddock/github/runner-groups';
import { connectCluster } from '@paddock/kube/connect';
import { probeCluster } from '@paddock/kube/call';
import { watchRights } from '@paddock/kube/rights';
import { createExecutor } from '@paddock/queue/executor';
import { executorEvents } from '@paddock/queue/executor-events';
import { executorRules } from '@paddock/queue/executor-settings';
import { declareQueueDepth } from '@paddock/queue/queue-depth';
import { createWake } from '@paddock/runtime/loop';
import { matchingSettings, readSchedulerConfig, settings } from './settings.ts';
import { createEvents } from './events.ts';
import { followPods } from './following/follow-pods.ts';
import { createPodsSync } from './following/sync-pods.ts';
import { schedulerKinds } from './kinds.ts';
import { createRecentRunJobs } from './stopping/recent-run-jobs.ts';
import { runMatching } from './matching/match-loop.ts';
import { createPoolsLoader } from './pools/load-pools.ts';

const declared = { environment: process.env, settings, read: readSchedulerConfig };

await runService('scheduler', declared, async (config, service) => {
  const { holder, log, metrics, onceFit, outage } = service;
  const { schema } = config;
  const events = createEvents(log, metrics);

  const connection = service.connect({
    applicationName: 'paddock-scheduler',
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
  service.closeAtEnd(cluster.close);
  const work = createWake();
  const reach = createReaches({
    db,
    log,
    metrics,
    probes: {
      github: (signal) => probeGitHub(github, signal),
      cluster: (signal) => probeCluster(cluster, signal),
    },
    onBack: () => work.ring(),
  });

  const poolsLoader = createPoolsLoader({
    db,
    cluster,
    path: config.configPath,
    refreshMs: config.poolsRefreshMs,
    reconsiderHours: config.reconsiderHours,
    events,
  });

  const rights = watchRights({
    cluster,
    service: 'scheduler',
    findNamespaces: () => findNamespaces(db),
    hookNamespaces: poolsLoader.hookNamespaces,
    log,
    metrics,
  });

  const whyNotReady = service.fitness({ ...connection, beside: 2 });
  const http = await service.serve({
    whyNotReady,
    refusals: [poolsLoader.refusal, apps.refusal],
    warnings: [apps.warning, rights.warning],
  });

  const {
    stopIdleApartMs: idleApartMs,
    stopLastLookMs: lastLookMs,
    stopOfflineMs: offlineMs,
    stopRetryMs: retryMs,
  } = config;
  const stopRules = { idleApartMs, unreadMs: offlineMs, lastLookMs, offlineMs, retryMs };
  const failing = { failureRules: failureRules(config) };
  const { unexplainedGraceMs, leaseMs, leaseRenewMs: renewMs, stuckAfterMs } = config;
  const recording = { db, events, cluster, reach, unexplainedGraceMs, ...failing };
  const stopping = { ...recording, stopRules, recentRunJobs: createRecentRunJobs() };
  const pods = createPodsSync({ ...recording, outage, onSynced: () => work.ring() });
  const demand = createWake();
  const executor = createExecutor({
    connection,
    config: connection.config,
    schema,
    hears: { channels: [queueEventChannel(schema)], onWake: () => demand.ring() },
    kinds: schedulerKinds({ github, runnerGroups, ...stopping }),
    isAway: (peer) => reach[peer].isAway() || (peer === 'cluster' && !pods.isSynced()),
    wake: work,
    holder,
    secrets: apps.secrets,
    events: executorEvents(metrics, log),
    ...executorRules(config),
  });
  outage.onAnswer(() => work.ring());
  outage.onAnswer(() => demand.ring());
  const { matchTickMs: tickMs, forgottenAfterMs } = config;
  const matching = {
    db,
    wake: demand,
    tickMs,
    forgottenAfterMs,
    settings: matchingSettings(config, github),
    events,
    reach,
    pods,
  };
  const following = { ...recording, holder, leaseMs, renewMs, stuckAfterMs };

  return {
    http: http.part,
    pools: onceFit(poolsLoader.run),
    apps: apps.run,
    rights: onceFit(rights.run),
    matching: onceFit((signal) => runMatching(matching, signal)),
    executor: onceFit(executor.run),
    reachingGitHub: reach.github.run,
    reachingCluster: reach.cluster.run,
    following: onceFit((signal) => followPods(following, signal)),
  };
});
