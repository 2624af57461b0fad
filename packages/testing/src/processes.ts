import { join } from 'node:path';
import { type Program, startProgram } from '@paddock/processes/start-program';
import { admitLogins, createLogins, urlFor } from './service-logins.ts';

/**
 * The program that the run's set-up has bundled under this name; its source where a test runs
 * without that set-up.
 */
export function bundledProgram(name: string, source: string): string {
  const folder = process.env['PADDOCK_TEST_PROGRAMS'];
  return folder === undefined ? source : join(folder, `${name}.mjs`);
}

const APPS = join(import.meta.dirname, '..', '..', '..', 'apps');

/** One of our services. */
export const appProgram = (app: string): string =>
  bundledProgram(app, join(APPS, app, 'src', 'main.ts'));

/** Free ports of this machine. */
export const LOCAL = {
  PADDOCK_HTTP_HOST: '127.0.0.1',
  PADDOCK_PUBLIC_PORT: '0',
  PADDOCK_HEALTH_PORT: '0',
} as const;

export interface ServiceStart {
  readonly app: 'ingress' | 'scheduler' | 'reconciler' | 'console';
  /** Another version of the service; today's by default. */
  readonly program?: string | undefined;
  /** The service's whole environment, except PATH and, unless given, host and ports. */
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Runs one of our services as a process, as in production, and resolves once it listens. Rejects
 * with its output if it ends before, or does not listen in time. It ends with this process, even if
 * this one is killed.
 */
export const startService = ({
  app,
  program = appProgram(app),
  env,
}: ServiceStart): Promise<Program> =>
  startProgram({ program, env: { PATH: process.env['PATH'], ...LOCAL, ...env } });

/** The console with its own rights only, on a database whose services have no logins yet. */
export async function startConsole(url: string, schema: string) {
  const logins = await createLogins(url);
  await admitLogins(url, logins, schema);
  const { port, kill, exited } = await startService({
    app: 'console',
    env: { DATABASE_URL: urlFor(url, logins, 'console'), PADDOCK_SCHEMA: schema },
  });
  const stop = () => {
    kill('SIGTERM');
    return exited;
  };
  return { at: `http://127.0.0.1:${port}`, stop };
}
