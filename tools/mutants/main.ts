// Breaks the code in many small ways and names the changes that no test notices. `pnpm mutants
// [--domain] [--only TEXT]`: all; or what Stryker does to packages/domain alone; or the named mutants
// whose name contains the text.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { judgeNamed } from './judge-named.ts';
import { readNamedMutants } from './named-mutants.ts';
import { makeScratchCopy, type ScratchCopy } from './scratch-copy.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: { domain: { type: 'boolean' }, only: { type: 'string' } },
});
const { domain = false, only } = values;

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => stop.abort(new Error(`received ${name}`)));

const copies: ScratchCopy[] = [];
try {
  const root = join(import.meta.dirname, '../..');
  for (let left = Math.max(1, availableParallelism() - 1); left > 0; left--)
    copies.push(makeScratchCopy(root, stop.signal));
  const [first, ...others] = copies as [ScratchCopy, ...ScratchCopy[]];
  if (only === undefined) {
    const { code, stdout, stderr } = await first.node(['tools/mutants/run-stryker.ts']);
    process.stdout.write(stdout + stderr);
    process.exitCode = code ?? 1;
  }
  if (!domain) {
    const chosen = readNamedMutants().filter(({ mutant }) => mutant.includes(only ?? ''));
    const areNoticed = await judgeNamed([first, ...others], chosen, (line) =>
      process.stdout.write(`${line}\n`),
    );
    if (!areNoticed) process.exitCode = 1;
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  for (const { remove } of copies) remove();
}
