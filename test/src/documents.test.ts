import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '..', '..');
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root });

/**
 * A file is named from the root, or by its app or package without `src`, as
 * `db/connection/connect.ts`.
 */
function isThere(file: string): boolean {
  const [first = '', ...rest] = file.split('/');
  return ['', join('apps', first, 'src'), join('packages', first, 'src')].some((folder) =>
    existsSync(join(root, folder, folder === '' ? file : rest.join('/'))),
  );
}

const captures = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, captured = '']) => captured);

test.each(pages)('%s names and links only files that are there', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  const files = captures(text, /`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|mjs|cjs|sql|yaml|json))`/g);
  const links = captures(text, /\]\(([^)#\s:]+)(?:#[^)]*)?\)/g);
  expect(files.filter((file) => !isThere(file))).toEqual([]);
  expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
});

test('there are pages, with names of files', () => {
  expect(pages).toContain(join('docs', 'reconciler.md'));
  expect(isThere('scheduler/matching/match.ts')).toBe(true);
  expect(isThere('scheduler/match.ts')).toBe(false);
});

test('the name of a setting means the same in all services (H6)', () => {
  const rows = captures(
    readFileSync(join(root, 'docs', 'settings.md'), 'utf8'),
    /^\| (`PADDOCK_.*) \|$/gm,
  ).map((row) => row.split(' | '));
  const meanings = Map.groupBy(rows, ([name = '']) => name);
  expect(meanings.size).toBeGreaterThan(20);
  for (const [name, told] of meanings)
    expect([name, new Set(told.map((row) => row.at(-1))).size]).toEqual([name, 1]);
});
