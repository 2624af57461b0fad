import { readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import type { Change } from './named-mutant.ts';

/**
 * Makes a change in a checkout and returns a function that undoes it. Throws, with the mutant's
 * name, if the change does not fit or leaves text that is not a program.
 */
export function applyMutant(checkout: string, change: Change): () => void {
  const path = join(checkout, change.file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(path, mutate(source, change));
  return () => writeFileSync(path, source);
}

/** Gives the changed text of a file. Throws as `applyMutant` does. */
export function mutate(source: string, { mutant, file, find, replace }: Change): string {
  const places = source.split(find).length - 1;
  if (places !== 1)
    throw new Error(`"${mutant}" fits ${places} places of ${file}, not one: mend its \`find\``);
  const mutated = source.replace(find, () => replace);
  if (mutated === source) throw new Error(`"${mutant}" changes nothing`);
  if (file.endsWith('.ts')) parse(mutant, mutated);
  return mutated;
}

function parse(mutant: string, source: string): void {
  try {
    stripTypeScriptTypes(source);
  } catch (cause) {
    throw new Error(`"${mutant}" leaves text that is not a program: ${String(cause)}`, { cause });
  }
}
