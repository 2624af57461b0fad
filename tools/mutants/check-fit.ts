// Part of `pnpm check`: names the mutants that no longer fit the code, without running any.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutate, readNamedMutants } from './named-mutants.ts';

const ROOT = join(import.meta.dirname, '../..');

const names = new Set<string>();
for (const named of readNamedMutants()) {
  const { mutant, file, tests } = named;
  if (names.has(mutant)) complain(`two mutants have the name "${mutant}"`);
  names.add(mutant);
  const missing = [file, ...tests].filter((path) => !existsSync(join(ROOT, path)));
  if (missing.length > 0) complain(`"${mutant}" names files that are not there: ${missing.join()}`);
  else
    try {
      mutate(readFileSync(join(ROOT, file), 'utf8'), named);
    } catch (error) {
      complain(error instanceof Error ? error.message : String(error));
    }
}

function complain(problem: string): void {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
