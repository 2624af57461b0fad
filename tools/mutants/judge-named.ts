import { applyMutant } from './apply-mutant.ts';
import type { MutantOfRow, NamedMutant } from './named-mutant.ts';
import { runNode } from './run-node.ts';
import { runTests } from './run-tests.ts';
import type { Verdict } from './verdict.ts';

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
      const verdict = await notice(checkout, mutant, signal);
      takeBack();
      const judged = { mutant, verdict, seconds: (performance.now() - began) / 1000 };
      tell(judged);
      all[place] = judged;
    }
  };
  await Promise.all(checkouts.map(judgeOn));
  return all;
}

const notice = (checkout: string, mutant: NamedMutant, signal: AbortSignal): Promise<Verdict> =>
  'row' in mutant ? runRow(checkout, mutant, signal) : runTests(checkout, mutant.tests, signal);

async function passWithout(
  checkout: string,
  mutants: readonly NamedMutant[],
  signal: AbortSignal,
): Promise<void> {
  const files = [...new Set(mutants.flatMap((mutant) => ('row' in mutant ? [] : mutant.tests)))];
  const rows = new Map(
    mutants
      .filter((mutant): mutant is MutantOfRow => 'row' in mutant)
      .map((mutant) => [`${mutant.row} ${mutant.jobs}`, mutant]),
  );
  const verdicts = files.length === 0 ? [] : [await runTests(checkout, files, signal)];
  for (const row of rows.values()) verdicts.push(await runRow(checkout, row, signal));
  const failed = verdicts.flatMap((verdict) =>
    'killedBy' in verdict ? [verdict.killedBy] : 'broken' in verdict ? [verdict.broken] : [],
  );
  if (failed.length > 0) throw new Error(`This fails even without a mutant: ${failed.join('; ')}`);
}

/** Plays one row of the fault matrix in a checkout. */
async function runRow(
  checkout: string,
  { row, jobs }: { row: string; jobs: number },
  signal: AbortSignal,
): Promise<Verdict> {
  const args = ['bench/src/main.ts', 'faults', '--fault', row, '--jobs', String(jobs), '--json'];
  const { code, stdout, stderr } = await runNode(args, { cwd: checkout, signal });
  if (code === 0) return { survived: true };
  const complaints = stdout.split('\n').filter((line) => line.startsWith(`${row}: `));
  // The first of these lines says how the fault struck. A row that did not run to its end has none.
  const [, ...wrong] = complaints;
  if (wrong.length > 0) return { killedBy: wrong.join('; ') };
  return {
    broken: `the row ${row} did not run to its end: ${stderr.trim().split('\n').slice(-5).join(' | ')}`,
  };
}
