// Breaks the code in many small ways and names the changes that no test notices. `pnpm mutants
// [--domain] [--only TEXT]`: all; or what Stryker does to packages/domain alone; or the named mutants
// whose name contains the text.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { catchSignals } from '@paddock/runtime/run';
import { judgeNamed } from './judge-named.ts';
import { readNamedMutants } from './named-mutants.ts';
import { makeScratchCopy } from './scratch-copy.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: { domain: { type: 'boolean' }, only: { type: 'string' } },
});
const { domain = false, only } = values;

const copy = makeScratchCopy(join(import.meta.dirname, '../..'), catchSignals());
try {
  if (only === undefined) {
    const { code, stdout, stderr } = await copy.node(['tools/mutants/run-stryker.ts']);
    process.stdout.write(stdout + stderr);
    process.exitCode = code ?? 1;
  }
  if (!domain) {
    const chosen = readNamedMutants().filter(({ mutant }) => mutant.includes(only ?? ''));
    const areNoticed = await judgeNamed(copy, chosen, (line) => process.stdout.write(`${line}\n`));
    if (!areNoticed) process.exitCode = 1;
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  copy.remove();
}
