// Part of `pnpm check`: names the mutants that no longer fit the code, without running any.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NAMED } from '../../mutants/areas.ts';
import { mutate } from './apply-mutant.ts';
import type { NamedMutant } from './named-mutant.ts';

const ROOT = join(import.meta.dirname, '..', '..');

const names = new Set<string>();
const problems = NAMED.flatMap(problemsOf);
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

function problemsOf(named: NamedMutant): string[] {
  const { mutant, file } = named;
  const found = names.has(mutant) ? [`two mutants have the name "${mutant}"`] : [];
  names.add(mutant);
  const files = [file, ...('row' in named ? [] : named.tests)].filter(
    (path) => !existsSync(join(ROOT, path)),
  );
  if (files.length > 0)
    return [...found, `"${mutant}" names files that are not there: ${files.join(', ')}`];
  try {
    mutate(readFileSync(join(ROOT, file), 'utf8'), named);
    return found;
  } catch (error) {
    return [...found, error instanceof Error ? error.message : String(error)];
  }
}
