import { ENDPOINTS } from '@paddock/api/endpoints';
import { readChanges } from '@paddock/api/sessions/read-changes';
import { runService } from '@paddock/db/run-service';
import { loop } from '@paddock/runtime/loop';
import { createWake } from '@paddock/runtime/wake';
import { createAdmit } from './admit.ts';
import { readConsoleConfig, settings } from './config.ts';
import { createChangeStreams } from './changes.ts';
import { createListener } from './create-listener.ts';
import { createConsoleEvents } from './events.ts';
import { loadPage } from './page.ts';
import { CONNECTION_LIMITS } from './rules.ts';
import { createAccessOf, createProxiedIdentity } from './sign-in/identity.ts';
import { createAnswerSignIn } from './sign-in/oidc.ts';

/** Connections for readiness and for tokens that were never good. */
const OTHER_CONNECTIONS = 2;

const declared = { environment: process.env, settings, read: readConsoleConfig };

await runService('console', declared, async (config, service) => {
  const events = createConsoleEvents(service.log, service.metrics);

  const { statementTimeoutMs } = config;
  const limits = {
    connectTimeoutMs: statementTimeoutMs,
    statementTimeoutMs,
    lockTimeoutMs: statementTimeoutMs,
  };
  const answering = service.connect({
    ...limits,
    forLists: true,
    poolSize: config.poolSize - OTHER_CONNECTIONS,
    applicationName: 'paddock-console',
  });
  const other = (applicationName: string) => ({ ...limits, poolSize: 1, applicationName });
  const unproven = service.connect(other('paddock-console-unproven'));
  const checking = service.connect(other('paddock-console-check'));
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
    isStopping: service.isStopping,
    streams,
    answerSignIn: oidc && createAnswerSignIn({ oidc, accessOf, db: answering.db }),
    page,
    prefix: config.pathPrefix,
  });
  const http = await service.serve(
    { whyNotReady: service.fitness({ ...checking, beside: 0 }) },
    { listener, port: config.httpPort },
  );
  Object.assign(http.server, CONNECTION_LIMITS);

  return {
    http: http.part,
    async changes(signal) {
      signal.addEventListener('abort', streams.close);
      await loop(
        streams.once,
        { wake: createWake(), intervalMs: config.lookEveryMs, onError: events.lookFailed },
        signal,
      );
    },
  };
});
