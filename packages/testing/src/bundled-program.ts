import { join } from 'node:path';

/**
 * The program that the run's set-up has bundled under this name; its source where a test runs
 * without that set-up.
 */
export function bundledProgram(name: string, source: string): string {
  const folder = process.env['PADDOCK_TEST_PROGRAMS'];
  return folder === undefined ? source : join(folder, `${name}.mjs`);
}
