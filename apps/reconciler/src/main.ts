import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createWaits } from '@paddock/db/entities/waits';
import { clientConfig, connectDatabase } from '@paddock/db/connection/connect';
import { listen } from '@paddock/db/connection/listen';
import { guardedDatabaseUrl } from '@paddock/db/connection/database-url';
import { watchOutages } from '@paddock/db/connection/outage';
import { sweepEventChannel } from '@paddock/db/connection/schema-name';
import { createFitness, waitUntilFit } from '@paddock/db/connection/wait-until-fit';
import { declareSharedGauges } from '@paddock/db/gauges/shared-gauges';
import { createReaches } from '@paddock/db/outages';
import { appEvents } from '@paddock/github/follow-apps';
import { connectGitHub } from '@paddock/github/connect';
import { followKeys, revealed } from '@paddock/github/follow-keys';
import { probeGitHub } from '@paddock/github/probe';
import { connectCluster } from '@paddock/kube/connect';
import { probeCluster } from '@paddock/kube/call';
import { createExecutor } from '@paddock/queue/executor';
import { executorEvents } from '@paddock/queue/executor-events';
import { executorRules } from '@paddock/queue/executor-settings';
import { declareQueueDepth } from '@paddock/queue/queue-depth';
import { createHealthApp } from '@paddock/runtime/health';
import { listenHttp, serveUntilStopped } from '@paddock/runtime/http-server';
import { createLogger } from '@paddock/runtime/logger';
import { loop } from '@paddock/runtime/loop';
import { main } from '@paddock/runtime/main';
import { createMetrics } from '@paddock/runtime/metrics';
import { printConfigIfAsked } from '@paddock/runtime/read-config';
import { warnOfRules } from '@paddock/runtime/rules';
import { run } from '@paddock/runtime/run';
import { createWake } from '@paddock/runtime/wake';
import { readReconcilerConfig, settings } from './config.ts';
import { createEvents } from './events.ts';
import { declareReconcilerGauges } from './reconciler-gauges.ts';
import { createSchedules } from './schedules/schedules.ts';
import { createSweepWatch } from './schedules/watch-sweeps.ts';
import { sweepSchedules } from './schedules/sweep-schedules.ts';
import { sweepKinds } from './sweeps.ts';
import { createClockWatch } from './upkeep/watch-clock.ts';

/** How often to check that all sweeps succeed. */
const WATCH_MS = 30_000;

/** How often to look for instants that a wrong clock of PostgreSQL has left. */
const WATCH_CLOCK_MS = 60_000;

await main(async () => {
  const config = readReconcilerConfig(process.env);
  if (printConfigIfAsked(process.argv, settings, config)) return;

  const { outage, log } = watchOutages(createLogger('reconciler', config.logLevel));
  warnOfRules(process.env, log);
  const metrics = createMetrics(log);
  const events = createEvents(log, metrics);
  const holder = `reconciler/${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;

  const { kubeconfig: kubeconfigFile, kubeTimeoutMs: requestTimeoutMs } = config;
  const cluster = connectCluster({ kubeconfigFile, requestTimeoutMs });
  const { schema } = config;
  const databaseOptions = {
    url: guardedDatabaseUrl(config, log),
    schema,
    applicationName: 'paddock-reconciler',
    outage,
    onCut: events.connectionsCut,
  };
  const connection = connectDatabase({ ...databaseOptions, poolSize: config.poolSize });
  const { db } = connection;
  const github = connectGitHub({
    apiUrl: config.github.apiUrl,
    apps: config.github.apps.map(revealed),
    requestTimeoutMs: config.githubTimeoutMs,
    waits: createWaits(db, events.githubAsksToWait),
  });
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
  declareSharedGauges(metrics, db);
  declareQueueDepth(metrics, db);
  const apps = followKeys({
    config,
    environment: process.env,
    github,
    events: appEvents(metrics, log),
  });
  const scheduled = () => sweepSchedules(config, github.appIds);
  declareReconcilerGauges(metrics, db, { ...config, schedules: scheduled });

  const ownConfig = clientConfig(databaseOptions);
  const whyNotReady = createFitness({ db, schema, config: ownConfig });
  let stopping = false;
  const health = createHealthApp({
    registry: metrics.registry,
    whyNotReady: async () => (stopping ? 'stopping' : whyNotReady()),
    warning: apps.warning,
  });
  const http = await listenHttp(health, { port: config.healthPort, host: config.httpHost });

  const onceFit = (part: (signal: AbortSignal) => Promise<void>) => async (signal: AbortSignal) => {
    await waitUntilFit({ whyNotReady, pollMs: 1_000, onUnfit: events.notReady }, signal);
    if (!signal.aborted) await part(signal);
  };

  const taskEvents = executorEvents(metrics, log);
  const executor = createExecutor({
    connection,
    config: ownConfig,
    schema,
    kinds: sweepKinds({
      db,
      github,
      cluster,
      config,
      events,
      isAway: (service) => reach[service].report(),
      taskEvents,
    }),
    isAway: (service) => reach[service].isAway(),
    holder,
    secrets: apps.secrets,
    events: taskEvents,
    ...executorRules(config),
  });
  wakeExecutor = executor.wake;
  const schedules = createSchedules({ db, schedules: scheduled, events });
  outage.onAnswer(schedules.wake);
  outage.onAnswer(executor.wake);
  const watchSweeps = createSweepWatch(db, scheduled, events);

  try {
    await run(
      {
        http: serveUntilStopped(http, log),
        executor: onceFit(executor.run),
        reachingGitHub: reach.github.run,
        reachingCluster: reach.cluster.run,
        apps: apps.run,
        schedules: onceFit(schedules.run),
        extraPasses: onceFit((signal) =>
          listen(
            {
              config: ownConfig,
              channels: [sweepEventChannel(schema)],
              onWake: schedules.wake,
              onError: events.scheduleFailed,
            },
            signal,
          ),
        ),
        sweeps: onceFit((signal) =>
          loop(
            watchSweeps,
            { wake: createWake(), intervalMs: WATCH_MS, onError: events.scheduleFailed },
            signal,
          ),
        ),
        clock: onceFit((signal) =>
          loop(
            createClockWatch(db, events),
            { wake: createWake(), intervalMs: WATCH_CLOCK_MS, onError: events.clockNotChecked },
            signal,
          ),
        ),
      },
      { graceMs: config.drainMs, log, onStop: () => void (stopping = true) },
    );
  } finally {
    cluster.close();
    await connection.close();
    await outage.close();
  }
});
