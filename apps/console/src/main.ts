import { ENDPOINTS } from '@paddock/api/endpoints';
import { clientConfig, connectDatabase } from '@paddock/db/connection/connect';
import { guardedDatabaseUrl } from '@paddock/db/connection/database-url';
import { watchOutages } from '@paddock/db/connection/outage';
import { readChanges } from '@paddock/api/sessions/read-changes';
import { createFitness } from '@paddock/db/connection/wait-until-fit';
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
import { createAdmit } from './admit.ts';
import { readConsoleConfig, settings } from './config.ts';
import { createChangeStreams } from './changes.ts';
import { createListener } from './create-listener.ts';
import { createConsoleEvents } from './events.ts';
import { loadPage } from './page.ts';
import { createAccessOf, createProxiedIdentity } from './sign-in/identity.ts';
import { createAnswerSignIn } from './sign-in/oidc.ts';

/** Connections for readiness and for tokens that were never good. */
const OTHER_CONNECTIONS = 2;

/** Longest time for a request to arrive whole. */
const REQUEST_TIMEOUT_MS = 10_000;

/** A connection on which nothing moves for so long is closed; longer than its keep-alive. */
const SILENCE_MS = 70_000;

const MOST_CONNECTIONS = 2_000;

await main(async () => {
  const config = readConsoleConfig(process.env);
  if (printConfigIfAsked(process.argv, settings, config)) return;

  const { outage, log } = watchOutages(createLogger('console', config.logLevel));
  warnOfRules(process.env, log);
  const metrics = createMetrics(log);
  const events = createConsoleEvents(log, metrics);

  const { schema, statementTimeoutMs } = config;
  const database = {
    url: guardedDatabaseUrl(config, log),
    schema,
    connectTimeoutMs: statementTimeoutMs,
    statementTimeoutMs,
    lockTimeoutMs: statementTimeoutMs,
    outage,
    onCut: events.connectionsCut,
  };
  const answering = connectDatabase({
    ...database,
    forLists: true,
    poolSize: config.poolSize - OTHER_CONNECTIONS,
    applicationName: 'paddock-console',
  });
  const other = (applicationName: string) => ({ ...database, poolSize: 1, applicationName });
  const unproven = connectDatabase(other('paddock-console-unproven'));
  const ofChecks = other('paddock-console-check');
  const checking = connectDatabase(ofChecks);

  let isStopping = false;
  const checks = { db: checking.db, schema, config: clientConfig(ofChecks) };
  const whyNotReady = createFitness(checks);
  const health = createHealthApp({
    registry: metrics.registry,
    whyNotReady: async () => (isStopping ? 'the service is stopping' : whyNotReady()),
  });
  const host = config.httpHost;
  const healthServer = await listenHttp(health, { port: config.healthPort, host });
  const { groups, proxy, oidc } = config.signIn;
  const page = await loadPage(import.meta.dirname, oidc !== undefined);
  if (page === undefined) events.pageMissing();
  const streams = createChangeStreams({
    look: (tokens, sessions) => readChanges(answering.db, { tokens, sessions }),
    lookEveryMs: config.lookEveryMs,
  });
  const accessOf = createAccessOf(groups);
  const listener = createListener({
    admit: createAdmit({
      accessOf,
      proxiedIdentity: createProxiedIdentity(proxy),
      db: answering.db,
      unproven: unproven.db,
      mostEach: Math.floor(answering.pool.options.max / 2),
    }),
    endpoints: ENDPOINTS,
    db: answering.db,
    events,
    isStopping: () => isStopping,
    streams,
    answerSignIn: oidc && createAnswerSignIn({ oidc, accessOf, db: answering.db }),
    page,
    prefix: config.pathPrefix,
  });
  const http = await listenHttp(listener, { port: config.httpPort, host }).catch(
    async (error: unknown) => {
      await healthServer.close();
      throw error;
    },
  );
  http.server.requestTimeout = REQUEST_TIMEOUT_MS;
  http.server.headersTimeout = REQUEST_TIMEOUT_MS;
  http.server.timeout = SILENCE_MS;
  http.server.maxConnections = MOST_CONNECTIONS;

  await run(
    {
      http: serveUntilStopped(http, log, healthServer),
      changes: (signal) =>
        loop(
          streams.once,
          { wake: createWake(), intervalMs: config.lookEveryMs, onError: events.lookFailed },
          signal,
        ),
    },
    {
      graceMs: config.drainMs,
      log,
      onStop: () => {
        isStopping = true;
        streams.close();
      },
    },
  );
  await Promise.all([answering, unproven, checking].map((connection) => connection.close()));
  await outage.close();
});
