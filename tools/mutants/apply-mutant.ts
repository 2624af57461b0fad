import { readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import type { Change } from './named-mutant.ts';

/**
 * Puts a change into a checkout; gives what takes it back. Throws, naming the mutant, where it does
 * not fit or is no longer a program.
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
    throw new Error(`"${mutant}" is no program any more: ${String(cause)}`, { cause });
  }
}
