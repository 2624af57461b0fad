import { ENDPOINTS } from '@paddock/api/endpoints';
import { readChanges } from '@paddock/api/sessions/read-changes';
import { runService } from '@paddock/db/run-service';
import { createFileReading } from '@paddock/runtime/file-reading';
import { loop } from '@paddock/runtime/loop';
import { pause } from '@paddock/runtime/pause';
import { createAdmit } from './admit.ts';
import { readConsoleConfig, settings } from './settings.ts';
import { createChangeStreams } from './changes.ts';
import { createListener } from './create-listener.ts';
import { createConsoleEvents } from './events.ts';
import { loadPage } from './page.ts';
import { CONNECTION_LIMITS } from './rules.ts';
import { createAccessOf, createProxiedIdentity } from './sign-in/identity.ts';
import { createAnswerSignIn } from './sign-in/oidc.ts';
import { readSignIn, type SignIn } from './sign-in/sign-in-file.ts';

/** How often to look for a changed file about signing in, and a changed secret that it names. */
const LOOK_EVERY_MS = 5_000;

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
  const streams = createChangeStreams({
    look: (tokens, sessions) => readChanges(answering.db, { tokens, sessions }),
    lookEveryMs: config.lookEveryMs,
  });
  const listenerFor = async ({ groups, proxy, oidc }: SignIn) => {
    const page = await loadPage(import.meta.dirname, oidc !== undefined);
    if (page === undefined) events.pageMissing();
    const accessOf = createAccessOf(groups);
    return createListener({
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
  };
  const file = createFileReading({
    read: (readFile, problems) => readSignIn(config.signInFile, process.env, problems, readFile),
    onRefused: events.signInRefused,
    onAccepted: () => undefined,
  });
  let listener = await listenerFor((await file.look()) ?? config.signIn);
  const http = await service.serve(
    {
      whyNotReady: service.fitness({ ...checking, beside: 0 }),
      warnings: [
        () => {
          const why = file.refusal();
          return (
            why &&
            `the changed file about signing in is refused, the one before stays in use: ${why}`
          );
        },
      ],
    },
    { listener: (request, response) => listener(request, response), port: config.httpPort },
  );
  Object.assign(http.server, CONNECTION_LIMITS);

  return {
    http: http.part,
    async signIn(signal) {
      while (!signal.aborted) {
        await pause(LOOK_EVERY_MS, signal);
        const changed = await file.look();
        if (changed === undefined) continue;
        listener = await listenerFor(changed);
        events.signInChanged();
      }
    },
    async changes(signal) {
      signal.addEventListener('abort', streams.close);
      await loop(
        streams.once,
        { intervalMs: config.lookEveryMs, onError: events.lookFailed },
        signal,
      );
    },
  };
});
