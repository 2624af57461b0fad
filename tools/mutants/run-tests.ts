import { join } from 'node:path';
import { type Run, runNode } from './run-node.ts';
import type { Verdict } from './verdict.ts';

/** The reporter's output: the first failure, or the files with at least one passed test. */
type Outcome =
  | { readonly failed: string; readonly message: string }
  | { readonly unloaded: string }
  | { readonly ran: readonly string[] };

/** A test that failed for one of these says only that the code does not load. */
const NOT_LOADED =
  /ReferenceError: |does not provide an export named|Cannot find module|ERR_MODULE_NOT_FOUND/;

/** Runs test files of a checkout until one test fails. */
export async function runTests(
  checkout: string,
  files: readonly string[],
  signal: AbortSignal,
): Promise<Verdict> {
  const jest = [
    '--experimental-vm-modules',
    'node_modules/jest/bin/jest.js',
    '--reporters',
    '<rootDir>/tools/mutants/first-failure.mjs',
  ];
  // The cache is beside the checkout and removed with it.
  const run = await runNode(
    [...jest, '--cacheDirectory', join(checkout, '..', 'cache'), '--runTestsByPath', ...files],
    {
      cwd: checkout,
      signal,
    },
  );
  const outcome = readOutcome(run.stdout);
  return outcome === undefined
    ? { broken: `Jest ended without a result: ${lastWords(run)}` }
    : judge(outcome, files);
}

function readOutcome(stdout: string): Outcome | undefined {
  const line = stdout.split('\n').find((text) => /^\{"(failed|unloaded|ran)":/.test(text));
  return line === undefined ? undefined : (JSON.parse(line) as Outcome);
}

const lastWords = ({ code, stdout, stderr }: Run): string =>
  code === null ? 'it hung' : `${stdout}\n${stderr}`.trim().split('\n').slice(-5).join(' | ');

/**
 * A test that fails kills the mutant. A file that does not load, or runs no test, proves nothing.
 */
function judge(outcome: Outcome, files: readonly string[]): Verdict {
  if ('unloaded' in outcome) return { broken: firstWords(outcome.unloaded) };
  if ('failed' in outcome)
    return NOT_LOADED.test(outcome.message)
      ? { broken: firstWords(outcome.message) }
      : { killedBy: outcome.failed };
  const idle = files.filter((file) => !outcome.ran.some((path) => path.endsWith(file)));
  return idle.length > 0 ? { broken: `no test ran in ${idle.join(', ')}` } : { survived: true };
}

const firstWords = (message: string): string => message.trim().split('\n').slice(0, 4).join(' | ');
