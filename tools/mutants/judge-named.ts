import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutate, type NamedMutant } from './named-mutants.ts';
import type { Run, ScratchCopy } from './scratch-copy.ts';

/** The fate of a mutant. */
type Verdict =
  /** The full name of the failed test, or the complaint of a row of the fault matrix. */
  | { readonly killedBy: string }
  | { readonly survived: true }
  /** Proves nothing: the changed code does not load, or its tests could not run. */
  | { readonly broken: string };

type Killers = Pick<NamedMutant, 'tests' | 'row'>;

/**
 * Tries each mutant, in all given copies at once, and says how it went. First, all tests and rows
 * must pass without a mutant: else they would fail for another reason. Returns whether all were
 * noticed; throws if one does not fit, or if something fails without a mutant.
 */
export async function judgeNamed(
  copies: readonly [ScratchCopy, ...ScratchCopy[]],
  mutants: readonly NamedMutant[],
  say: (line: string) => unknown,
): Promise<boolean> {
  for (const mutant of mutants) applyMutant(copies[0], mutant)();
  await passWithout(copies[0], mutants);
  const left = mutants.values();
  let areNoticed = true;
  const judgeOn = async (copy: ScratchCopy): Promise<void> => {
    for (const mutant of left) {
      const takeBack = applyMutant(copy, mutant);
      const verdict = await judge(copy, mutant);
      takeBack();
      areNoticed &&= 'killedBy' in verdict;
      say(sentenceOf(mutant, verdict));
    }
  };
  await Promise.all(copies.map(judgeOn));
  return areNoticed;
}

function sentenceOf({ mutant, file, tests, row }: NamedMutant, verdict: Verdict): string {
  if ('killedBy' in verdict) return `killed    ${mutant}: ${verdict.killedBy}`;
  if ('broken' in verdict)
    return `BROKEN    ${mutant}: ${verdict.broken}\n          Write it so that the code still loads and runs.`;
  const where = row === undefined ? tests.join(', ') : `the row ${row.name}`;
  return `SURVIVED  ${mutant}\n          ${where} passes with it in ${file}: write the test that does not.`;
}

/** Makes a change in a copy and returns a function that undoes it. */
function applyMutant({ path: root }: ScratchCopy, mutant: NamedMutant): () => void {
  const path = join(root, mutant.file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(path, mutate(source, mutant));
  return () => writeFileSync(path, source);
}

async function passWithout(copy: ScratchCopy, mutants: readonly NamedMutant[]): Promise<void> {
  const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
  const rows = new Map(mutants.flatMap(({ row }) => (row === undefined ? [] : [[row.name, row]])));
  const killers: Killers[] = rows
    .values()
    .map((row) => ({ tests: [], row }))
    .toArray();
  if (tests.length > 0) killers.unshift({ tests });
  for (const each of killers) {
    const verdict = await judge(copy, each);
    if (!('survived' in verdict))
      throw new Error(`This fails even without a mutant: ${Object.values(verdict).join('; ')}`);
  }
}

const judge = (copy: ScratchCopy, { tests, row }: Killers): Promise<Verdict> =>
  row === undefined ? runTests(copy, tests) : runRow(copy, row);

/** Plays one row of the fault matrix in a copy. */
async function runRow(
  copy: ScratchCopy,
  { name, jobs }: { name: string; jobs: number },
): Promise<Verdict> {
  const args = ['bench/src/main.ts', 'faults', '--fault', name, '--jobs', String(jobs)];
  const run = await copy.node(args);
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

/** What `jest --json` says of each file. */
interface FileResult {
  readonly name: string;
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
  const line = run.stdout.split('\n').find((text) => text.startsWith('{"num'));
  if (line === undefined) return { broken: `Jest ended without a result: ${lastWords(run)}` };
  const { testResults } = JSON.parse(line) as { testResults: readonly FileResult[] };
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = results.find(({ status }) => status === 'failed');
  const message = failed?.failureMessages.join('\n') ?? '';
  if (failed !== undefined && !NOT_LOADED.test(message)) return { killedBy: failed.fullName };
  const idle = testResults.find(
    ({ assertionResults }) => !assertionResults.some(({ status }) => status === 'passed'),
  );
  if (failed === undefined && idle === undefined && run.code === 0) return { survived: true };
  return { broken: `${idle?.name ?? ''} ${message || (idle?.message ?? '')}`.slice(0, 1_000) };
}

const lastWords = ({ stdout, stderr }: Run): string =>
  `${stdout}\n${stderr}`.trim().split('\n').slice(-5).join(' | ');
