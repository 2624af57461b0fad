import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');
/** The smallest program. All are built alike. */
const APP = 'migrate';
const BUNDLE = `apps/${APP}/dist/main.mjs`;

/** Builds the app in a folder, and returns the bundle and its source map. */
function build(folder: string): [bundle: string, map: string] {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'tools/build.mjs'), APP], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  return [read(BUNDLE), read(`${BUNDLE}.map`)];
}

/** The folders of the packages whose files a source map names, from the root of the checkout. */
function packagesIn(map: string): Set<string> {
  const { sources } = JSON.parse(map) as { sources: string[] };
  return new Set(
    sources.map((source) => {
      const parts = join(dirname(BUNDLE), source).split('/');
      return parts.slice(0, parts[0] === 'node_modules' ? 3 : 2).join('/');
    }),
  );
}

test('a build in another folder, at another time, gives the same bytes', () => {
  const [bundle, map] = build(ROOT);
  const copy = mkdtempSync(join(tmpdir(), 'paddock-copy-'));
  try {
    for (const path of ['package.json', 'tsconfig.base.json', ...packagesIn(map)])
      cpSync(join(ROOT, path), join(copy, path), { recursive: true, verbatimSymlinks: true });
    rmSync(join(copy, dirname(BUNDLE)), { recursive: true });
    const again = build(copy);
    // Not `toEqual`: the difference of two megabytes would be printed.
    expect([again[0] === bundle, again[1] === map]).toEqual([true, true]);
    expect(bundle.length).toBeGreaterThan(100_000);
    expect(bundle).not.toContain(ROOT);
  } finally {
    rmSync(copy, { recursive: true });
  }
});
