import { createWaits } from '@paddock/db/entities/waits';
import { sweepEventChannel } from '@paddock/db/connection/schema-name';
import { declareSharedGauges } from '@paddock/db/gauges/shared-gauges';
import { findHeldJobs } from '@paddock/db/jobs/held-jobs';
import { createReaches } from '@paddock/db/outages';
import { runService } from '@paddock/db/run-service';
import { findNamespaces } from '@paddock/db/workers/worker-pods';
import { appEvents } from '@paddock/github/follow-apps';
import { connectGitHub } from '@paddock/github/connect';
import { followKeys, revealed } from '@paddock/github/follow-keys';
import { probeGitHub } from '@paddock/github/probe';
import { connectCluster } from '@paddock/kube/connect';
import { probeCluster } from '@paddock/kube/call';
import { watchRights } from '@paddock/kube/rights';
import { createExecutor } from '@paddock/queue/executor';
import { executorEvents } from '@paddock/queue/executor-events';
import { executorRules } from '@paddock/queue/executor-settings';
import { declareQueueDepth } from '@paddock/queue/queue-depth';
import { createWake, loop } from '@paddock/runtime/loop';
import { readReconcilerConfig, settings } from './settings.ts';
import { createEvents } from './events.ts';
import { createWebhook } from './notifications/notify.ts';
import { declareAppCalls, declareReconcilerGauges } from './reconciler-gauges.ts';
import { createSchedules } from './schedules/take-ticks.ts';
import { createWatch } from './schedules/watch-sweeps.ts';
import { sweepSchedules } from '@paddock/queue/sweep-schedules';
import { readCollector } from './traces/collector.ts';
import { sweepKinds } from './sweeps.ts';

/** How often to check that all sweeps succeed, and that no clock is wrong. */
const WATCH_MS = 30_000;

const declared = { environment: process.env, settings, read: readReconcilerConfig };

await runService('reconciler', declared, async (config, service) => {
  const { holder, log, metrics, onceFit, outage } = service;
  const { schema } = config;

  const { kubeconfig: kubeconfigFile, kubeTimeoutMs: requestTimeoutMs } = config;
  const cluster = connectCluster({ kubeconfigFile, requestTimeoutMs });
  service.closeAtEnd(cluster.close);
  const connection = service.connect({
    applicationName: 'paddock-reconciler',
    poolSize: config.poolSize,
  });
  const { db } = connection;
  const { lateAfterSeconds } = config;
  const findHeld = (jobIds: readonly number[]) => findHeldJobs(db, jobIds);
  const events = createEvents({ log, metrics, lateAfterSeconds, findHeld });
  const github = connectGitHub({
    apiUrl: config.github.apiUrl,
    apps: config.github.apps.map(revealed),
    requestTimeoutMs: config.githubTimeoutMs,
    waits: createWaits(db, events.githubAsksToWait),
  });
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
  declareSharedGauges(metrics, db);
  declareQueueDepth(metrics, db);
  const apps = followKeys({
    config,
    environment: process.env,
    github,
    events: appEvents(metrics, log),
  });
  const scheduled = () => sweepSchedules(config, github.appIds);
  declareReconcilerGauges(metrics, db, config, scheduled);
  declareAppCalls(metrics, github);

  const rights = watchRights({
    cluster,
    service: 'reconciler',
    findNamespaces: () => findNamespaces(db),
    log,
    metrics,
  });

  const whyNotReady = service.fitness({ ...connection, beside: 2 });
  const http = await service.serve({
    whyNotReady,
    refusals: [apps.refusal],
    warnings: [apps.warning, rights.warning],
  });

  const schedules = createSchedules({ db, schedules: scheduled, events });
  const taskEvents = executorEvents(metrics, log);
  const executor = createExecutor({
    connection,
    config: connection.config,
    schema,
    hears: { channels: [sweepEventChannel(schema)], onWake: schedules.wake },
    kinds: sweepKinds({
      db,
      github,
      cluster,
      config,
      events,
      isAway: (peer) => reach[peer].report(),
      takesFromLog: () => apps.section().intake === 'log',
      newestPages: new Map(),
      collector: readCollector(process.env),
      webhook: createWebhook(config.configPath, process.env),
      taskEvents,
    }),
    isAway: (peer) => reach[peer].isAway(),
    wake: work,
    holder,
    secrets: apps.secrets,
    events: taskEvents,
    ...executorRules(config),
  });
  outage.onAnswer(schedules.wake);
  outage.onAnswer(() => work.ring());

  return {
    http: http.part,
    executor: onceFit(executor.run),
    reachingGitHub: reach.github.run,
    reachingCluster: reach.cluster.run,
    apps: apps.run,
    rights: onceFit(rights.run),
    schedules: onceFit(schedules.run),
    watch: onceFit((signal) =>
      loop(
        createWatch(db, scheduled, events),
        { intervalMs: WATCH_MS, onError: events.scheduleFailed },
        signal,
      ),
    ),
  };
});
