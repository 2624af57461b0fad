import { ConfigError } from './config-error.ts';
import { createHealthApp } from './health.ts';
import { listenHttp } from './http-server.ts';
import { createLogger } from './logger.ts';
import { createMetrics } from './metrics.ts';
import { pause } from './pause.ts';
import type { healthPort, serviceSettings } from './service-settings.ts';
import { type Environment, readSettings } from './settings.ts';

interface Waiting<C> {
  readonly name: string;
  readonly environment: Environment;
  readonly settings: Pick<typeof serviceSettings, 'httpHost' | 'logLevel'> & {
    readonly healthPort: ReturnType<typeof healthPort>;
  };
  /** Throws a ConfigError. */
  readonly read: () => C;
  /** A signal to the process. */
  readonly caught: AbortSignal;
}

/** As often as changed files are looked for in a running service. */
const EVERY_MS = 5_000;

/**
 * Reads a service's configuration. While a file of it is wrong, the service is alive and not ready,
 * and says in the log and in `/readyz` what to mend: a process that ended instead would be started
 * again and again, and later each time. Undefined: a signal came first. Throws what no change of a
 * file can mend.
 */
export async function untilMended<C>(waiting: Waiting<C>): Promise<C | undefined> {
  const { name, environment, settings, read, caught } = waiting;
  const first = attempt(read);
  if (!('wrong' in first)) return first.config;
  const { httpHost: host, healthPort: port, logLevel } = readSettings(settings, environment).values;
  const log = createLogger(name, logLevel);
  let { wrong } = first;
  const health = await listenHttp(
    createHealthApp({
      registry: createMetrics(log).registry,
      whyNotReady: () => Promise.resolve(`the service cannot start: ${wrong.join('; ')}`),
    }),
    { port, host },
  );
  log.info('listening', { port: health.port });
  const refuse = () =>
    log.error('the configuration is refused: the service starts once you have mended it', {
      problems: wrong,
    });
  refuse();
  try {
    while (true) {
      await pause(EVERY_MS, caught);
      if (caught.aborted) return undefined;
      const next = attempt(read);
      if (!('wrong' in next)) return next.config;
      const isNews = next.wrong.join() !== wrong.join();
      ({ wrong } = next);
      if (isNews) refuse();
    }
  } finally {
    await health.close();
  }
}

function attempt<C>(read: () => C): { config: C } | { wrong: readonly string[] } {
  try {
    return { config: read() };
  } catch (error) {
    if (error instanceof ConfigError && error.isOfFiles) return { wrong: error.problems };
    throw error;
  }
}
