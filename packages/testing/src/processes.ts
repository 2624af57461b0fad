import { join } from 'node:path';
import { type Program, startProgram } from '@paddock/processes/start-program';
import { bundledProgram } from './bundled-program.ts';

export interface ServiceStart {
  readonly app: 'ingress' | 'scheduler' | 'reconciler' | 'console';
  /** Another version of the service; today's by default. */
  readonly program?: string | undefined;
  /** The service's whole environment, except PATH. */
  readonly env: NodeJS.ProcessEnv;
}

const APPS = join(import.meta.dirname, '..', '..', '..', 'apps');

/**
 * Runs one of our services as a process, as in production, and resolves once it listens. Rejects
 * with its output if it ends before, or does not listen in time. It ends with this process, even if
 * this one is killed.
 */
export async function startService({
  app,
  program = bundledProgram(app, join(APPS, app, 'src', 'main.ts')),
  env,
}: ServiceStart): Promise<Program> {
  return startProgram({ program, env: { PATH: process.env['PATH'], ...env } });
}
