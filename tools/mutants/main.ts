// Breaks the code in many small ways and says which of them no test notices. `pnpm mutants [--only TEXT] [--json]`
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { NAMED } from '../../mutants/areas.ts';
import { type Judged, judgeNamed } from './judge-named.ts';
import { makeScratchCopy } from './scratch-copy.ts';

const ROOT = join(import.meta.dirname, '..', '..');

const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, json: { type: 'boolean', default: false } } });
const chosen = NAMED.filter(({ mutant }) => mutant.includes(values.only));

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error(`received ${name}`)));

const copy = makeScratchCopy(ROOT);
try {
  const judged = await judgeNamed(copy.path, chosen, tell, stop.signal);
  if (values.json) process.stdout.write(`${JSON.stringify({ named: judged.map(toResult) })}\n`);
  if (judged.some(({ verdict }) => !('killedBy' in verdict))) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  copy.remove();
}

function tell({ mutant, verdict, seconds }: Judged): void {
  const stream = values.json ? process.stderr : process.stdout;
  const lines =
    'killedBy' in verdict ? [`killed    ${mutant.mutant} (${seconds.toFixed(0)} s): ${verdict.killedBy}`] : unkilled(mutant.file);
  stream.write(`${lines.join('\n')}\n`);

  function unkilled(file: string): string[] {
    const where = 'row' in mutant ? `the row ${mutant.row}` : mutant.tests.join(', ');
    return 'broken' in verdict
      ? [`BROKEN    ${mutant.mutant}: ${verdict.broken}`, '          Write it so that the code still loads and runs.']
      : [`SURVIVED  ${mutant.mutant}`, `          ${where} passes with it in ${file}: write the test that does not.`];
  }
}

function toResult({ mutant: { mutant }, verdict }: Judged): { mutant: string; killed_by: string | null } {
  return { mutant, killed_by: 'killedBy' in verdict ? verdict.killedBy : null };
}
