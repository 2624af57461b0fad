import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { useFolder } from '@paddock/testing/use-folder';
import type { GoodFile } from './files.scene.ts';

export const folder = useFolder();

export function fileWith(text: string, name = 'arc.yaml'): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** The file of a table and those beside it, and the words for the command. */
export const wordsOf = ({
  text,
  name,
  beside = {},
  words = [],
}: Omit<GoodFile, 'config'>): string[] => [
  ...Object.entries({ [name ?? 'arc.yaml']: text, ...beside }).map(([path, content]) =>
    fileWith(content, path),
  ),
  ...words,
];
