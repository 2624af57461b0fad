import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutate, type NamedMutant } from './named-mutants.ts';
import type { Run, ScratchCopy } from './scratch-copy.ts';

interface Verdict {
  /** `BROKEN` proves nothing: the changed code does not load, or its tests could not run. */
  readonly fate: 'killed' | 'SURVIVED' | 'BROKEN';
  /** The full name of the failed test, or the complaint of a row of the fault matrix. */
  readonly by: string;
}

type Killers = Pick<NamedMutant, 'tests' | 'row'>;

/**
 * Tries each mutant in the copy and says how it went. First, all tests and rows must pass without a
 * mutant: else they would fail for another reason. Returns whether all were noticed; throws if one
 * does not fit, or if something fails without a mutant.
 */
export async function judgeNamed(
  copy: ScratchCopy,
  mutants: readonly NamedMutant[],
  say: (line: string) => unknown,
): Promise<boolean> {
  const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
  const rows = new Map(mutants.flatMap(({ row }) => (row === undefined ? [] : [[row.name, row]])));
  // Jest without a file would run all there are.
  const some = tests.length > 0 ? [{ tests }] : [];
  for (const killers of [...some, ...rows.values().map((row) => ({ tests: [], row }))]) {
    const { fate, by } = await judge(copy, killers);
    if (fate !== 'SURVIVED') throw new Error(`This fails even without a mutant: ${by}`);
  }
  let areNoticed = true;
  for (const mutant of mutants) {
    const path = join(copy.path, mutant.file);
    const source = readFileSync(path, 'utf8');
    writeFileSync(path, mutate(source, mutant));
    const { fate, by } = await judge(copy, mutant);
    writeFileSync(path, source);
    areNoticed &&= fate === 'killed';
    say(`${fate.padEnd(10)}${mutant.mutant}: ${by}`);
  }
  return areNoticed;
}

const judge = (copy: ScratchCopy, { tests, row }: Killers): Promise<Verdict> =>
  row === undefined ? runTests(copy, tests) : runRow(copy, row);

/** Plays one row of the fault matrix in a copy. */
async function runRow(
  copy: ScratchCopy,
  { name, jobs }: { name: string; jobs: number },
): Promise<Verdict> {
  // The board is read from the console's page, which only bundles have.
  const bench = ['--import', './tools/with-bundles.mjs', 'bench/src/main.ts'];
  const run = await copy.node([...bench, 'faults', '--fault', name, '--jobs', String(jobs)]);
  if (run.code === 0) return { fate: 'SURVIVED', by: `the row ${name} passes` };
  // The first of these lines says how the fault struck. A row that did not run to its end has none.
  const [, ...wrong] = run.stdout.split('\n').filter((line) => line.startsWith(`${name}: `));
  return wrong.length > 0
    ? { fate: 'killed', by: wrong.join('; ') }
    : { fate: 'BROKEN', by: `the row ${name} did not run to its end: ${lastWords(run)}` };
}

/** A test that failed for one of these says only that the code does not load. */
const NOT_LOADED =
  /ReferenceError: |does not provide an export named|Cannot find module|ERR_MODULE_NOT_FOUND/;

/** What `jest --json` says of each file. */
interface FileResult {
  readonly message: string;
  readonly assertionResults: readonly {
    readonly status: string;
    readonly fullName: string;
    readonly failureMessages: readonly string[];
  }[];
}

/**
 * Runs test files of a copy: one that fails kills the mutant. A file that does not load, or runs no
 * test, proves nothing.
 */
async function runTests(copy: ScratchCopy, files: readonly string[]): Promise<Verdict> {
  const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];
  // The cache is beside the checkout and removed with it.
  const options = ['--cacheDirectory', '../cache', '--reporters', 'default', '--json'];
  const run = await copy.node([...jest, ...options, '--runTestsByPath', ...files]);
  const line = run.stdout.split('\n').find((text) => text.startsWith('{"num')) ?? '{}';
  const { testResults = [] } = JSON.parse(line) as { testResults?: readonly FileResult[] };
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .find(({ status }) => status === 'failed');
  const message = failed?.failureMessages.join('\n') ?? '';
  if (failed !== undefined && !NOT_LOADED.test(message))
    return { fate: 'killed', by: failed.fullName };
  const haveRun = testResults.every(({ assertionResults }) =>
    assertionResults.some(({ status }) => status === 'passed'),
  );
  if (haveRun && run.code === 0)
    return { fate: 'SURVIVED', by: `${files.join(', ')} passes: write the test that does not` };
  return { fate: 'BROKEN', by: (message || lastWords(run)).slice(0, 1_000) };
}

const lastWords = ({ stdout, stderr }: Run): string =>
  `${stdout}\n${stderr}`.trim().split('\n').slice(-5).join(' | ');
