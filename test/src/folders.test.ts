import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');

/**
 * The folder of a subject that a file of product code is in, as `packages/db/src/jobs`; undefined
 * for files beside those folders.
 */
function folderOf(file: string): string | undefined {
  const [kind, name, src, folder, ...rest] = file.split(sep);
  return src === 'src' && folder !== 'scenes' && rest.length > 0
    ? [kind, name, src, folder].join('/')
    : undefined;
}

/** Each folder, with those beside it that its files import from. */
function importsOfFolders(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const file of globSync('{apps,packages}/*/src/**/*.ts', { cwd: ROOT })) {
    const from = folderOf(file);
    if (from === undefined || /\.(test|contract)\.ts$/.test(file)) continue;
    for (const [, imported = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(
      / from '(\.\.\/[^']+)'/g,
    )) {
      const to = folderOf(normalize(join(dirname(file), imported)));
      if (to !== undefined && to !== from) found.set(from, (found.get(from) ?? new Set()).add(to));
    }
  }
  return found;
}

/** The folders on the way from `from` back to itself; undefined if no import leads back. */
function wayBack(imports: Map<string, Set<string>>, from: string): string[] | undefined {
  const seen = new Set<string>();
  const search = (folder: string, way: string[]): string[] | undefined => {
    for (const next of imports.get(folder) ?? []) {
      if (next === from) return [...way, folder, from];
      if (seen.has(next)) continue;
      seen.add(next);
      const found = search(next, [...way, folder]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return search(from, []);
}

describe('the folders of subjects', () => {
  test('import each other one way', () => {
    const imports = importsOfFolders();
    expect(imports.size).toBeGreaterThan(10);
    expect(
      [...imports.keys()].flatMap((folder) => wayBack(imports, folder)?.join(' → ') ?? []),
    ).toEqual([]);
  });
});
