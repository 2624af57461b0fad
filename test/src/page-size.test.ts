import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';

const TOOL = join(import.meta.dirname, '..', '..', 'tools', 'build-page.mjs');
const BUILD = `import(${JSON.stringify(TOOL)}).then((tool) => tool.buildPage(process.argv[1]))`;

const KB = 1_024;
const MOST = { first: 60 * KB, withCharts: 100 * KB };

test('the page travels as at most 60 KB, with charts 100 KB, and takes no text for markup', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'paddock-page-'));
  try {
    // A process of its own: the bundler is no part of this one.
    await promisify(execFile)(process.execPath, ['-e', BUILD, folder]);
    const built = await readFile(join(folder, 'page.json'), 'utf8');
    const { html, files } = JSON.parse(built) as {
      html: string;
      files: Record<string, { text: string }>;
    };
    const all: (readonly [name: string, text: string])[] = [
      ['page.html', html],
      ...Object.entries(files).map(([name, { text }]) => [name, text] as const),
    ];
    const sizeOf = (of: typeof all) => of.reduce((sum, [, text]) => sum + gzipSync(text).length, 0);
    const first = sizeOf(all.filter(([name]) => !name.startsWith('draw-chart-')));
    process.stdout.write(
      `the page by gzip: ${toKb(first)} KB, with charts ${toKb(sizeOf(all))} KB\n`,
    );
    expect(first).toBeGreaterThan(8 * KB);
    expect(first).toBeLessThanOrEqual(MOST.first);
    expect(sizeOf(all)).toBeGreaterThan(first);
    expect(sizeOf(all)).toBeLessThanOrEqual(MOST.withCharts);
    expect(all.map(([, text]) => text).join('')).not.toMatch(
      /\beval\(|new Function|insertAdjacentHTML|document\.write/,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

const toKb = (bytes: number): string => (bytes / KB).toFixed(1);
