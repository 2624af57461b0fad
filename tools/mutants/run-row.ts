import { runNode } from './run-node.ts';
import type { Verdict } from './verdict.ts';

/** Plays one row of the fault matrix in a checkout. */
export async function runRow(
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
