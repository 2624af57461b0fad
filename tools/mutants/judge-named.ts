import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutate, type NamedMutant } from './named-mutants.ts';
import { type Run, runNode } from './run-node.ts';

/** The fate of a mutant. */
type Verdict =
  /** The full name of the failed test, or the complaint of a row of the fault matrix. */
  | { readonly killedBy: string }
  | { readonly survived: true }
  /** Proves nothing: the changed code does not load, or its tests could not run. */
  | { readonly broken: string };

export interface Judged {
  readonly mutant: NamedMutant;
  readonly verdict: Verdict;
  readonly seconds: number;
}

/**
 * Tries each mutant, in all given checkouts at once, and reports it. First, all tests and rows must
 * pass without a mutant: else they would fail for another reason. Throws if one does not.
 */
export async function judgeNamed(
  checkouts: readonly [string, ...string[]],
  mutants: readonly NamedMutant[],
  tell: (judged: Judged) => void,
  signal: AbortSignal,
): Promise<Judged[]> {
  // Reports the mutants that do not fit before it runs any.
  for (const mutant of mutants) applyMutant(checkouts[0], mutant)();
  await passWithout(checkouts[0], mutants, signal);
  const left = [...mutants.entries()];
  const all: Judged[] = [];
  const judgeOn = async (checkout: string): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [place, mutant] = next;
      const began = performance.now();
      const takeBack = applyMutant(checkout, mutant);
      const verdict = await (mutant.row === undefined
        ? runTests(checkout, mutant.tests, signal)
        : runRow(checkout, mutant.row, signal));
      takeBack();
      const judged = { mutant, verdict, seconds: (performance.now() - began) / 1000 };
      tell(judged);
      all[place] = judged;
    }
  };
  await Promise.all(checkouts.map(judgeOn));
  return all;
}

/** Makes a change in a checkout and returns a function that undoes it. */
function applyMutant(checkout: string, mutant: NamedMutant): () => void {
  const path = join(checkout, mutant.file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(path, mutate(source, mutant));
  return () => writeFileSync(path, source);
}

async function passWithout(
  checkout: string,
  mutants: readonly NamedMutant[],
  signal: AbortSignal,
): Promise<void> {
  const files = [...new Set(mutants.flatMap(({ tests }) => tests))];
  const rows = new Map(mutants.flatMap(({ row }) => (row === undefined ? [] : [[row.name, row]])));
  const verdicts = files.length === 0 ? [] : [await runTests(checkout, files, signal)];
  for (const row of rows.values()) verdicts.push(await runRow(checkout, row, signal));
  const failed = verdicts.flatMap((verdict) =>
    'survived' in verdict ? [] : 'killedBy' in verdict ? verdict.killedBy : verdict.broken,
  );
  if (failed.length > 0) throw new Error(`This fails even without a mutant: ${failed.join('; ')}`);
}

/** Plays one row of the fault matrix in a checkout. */
async function runRow(
  checkout: string,
  { name, jobs }: { name: string; jobs: number },
  signal: AbortSignal,
): Promise<Verdict> {
  const args = ['bench/src/main.ts', 'faults', '--fault', name, '--jobs', String(jobs), '--json'];
  const run = await runNode(args, { cwd: checkout, signal });
  if (run.code === 0) return { survived: true };
  // The first of these lines says how the fault struck. A row that did not run to its end has none.
  const [, ...wrong] = run.stdout.split('\n').filter((line) => line.startsWith(`${name}: `));
  return wrong.length > 0
    ? { killedBy: wrong.join('; ') }
    : { broken: `the row ${name} did not run to its end: ${lastWords(run)}` };
}

/** A test that failed for one of these says only that the code does not load. */
const NOT_LOADED =
  /ReferenceError: |does not provide an export named|Cannot find module|ERR_MODULE_NOT_FOUND/;

/** What the reporter `first-failure.mjs` writes. */
interface Outcome {
  readonly failed?: string;
  readonly message?: string;
  readonly unloaded?: string;
  /** The files with at least one passed test. */
  readonly ran?: readonly string[];
}

/**
 * Runs test files of a checkout until one test fails, which kills the mutant. A file that does not
 * load, or runs no test, proves nothing.
 */
async function runTests(
  checkout: string,
  files: readonly string[],
  signal: AbortSignal,
): Promise<Verdict> {
  // The cache is beside the checkout and removed with it.
  const options = ['--cacheDirectory', join(checkout, '..', 'cache'), '--runTestsByPath', ...files];
  const reporter = ['--reporters', '<rootDir>/tools/mutants/first-failure.mjs'];
  const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];
  const run = await runNode([...jest, ...reporter, ...options], { cwd: checkout, signal });
  const line = run.stdout.split('\n').find((text) => /^\{"(failed|unloaded|ran)":/.test(text));
  if (line === undefined) return { broken: `Jest ended without a result: ${lastWords(run)}` };
  const { failed, message = '', unloaded, ran = [] } = JSON.parse(line) as Outcome;
  if (unloaded !== undefined) return { broken: firstWords(unloaded) };
  if (failed !== undefined)
    return NOT_LOADED.test(message) ? { broken: firstWords(message) } : { killedBy: failed };
  const idle = files.filter((file) => !ran.some((path) => path.endsWith(file)));
  return idle.length > 0 ? { broken: `no test ran in ${idle.join(', ')}` } : { survived: true };
}

const firstWords = (message: string): string => message.trim().split('\n').slice(0, 4).join(' | ');

const lastWords = ({ code, stdout, stderr }: Run): string =>
  code === null ? 'it hung' : `${stdout}\n${stderr}`.trim().split('\n').slice(-5).join(' | ');
