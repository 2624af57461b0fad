import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';

const TOOL = join(import.meta.dirname, '..', '..', 'tools', 'build-page.mjs');
const BUILD = `import(${JSON.stringify(TOOL)}).then((tool) => tool.buildPage(process.argv[1]))`;

const MOST_BYTES = 60 * 1024;

test('the page travels as at most 60 KB, and takes no text for markup', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'paddock-page-'));
  try {
    // A process of its own: the bundler is no part of this one.
    await promisify(execFile)(process.execPath, ['-e', BUILD, folder]);
    const built = await readFile(join(folder, 'page.json'), 'utf8');
    const { html, files } = JSON.parse(built) as {
      html: string;
      files: Record<string, { text: string }>;
    };
    const texts = [html, ...Object.values(files).map(({ text }) => text)];
    const bytes = texts.reduce((all, text) => all + gzipSync(text).length, 0);
    expect(bytes).toBeGreaterThan(8 * 1024);
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
    expect(texts.join('')).not.toMatch(/\beval\(|new Function|insertAdjacentHTML|document\.write/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
