import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';

/** A new folder for the tests of a file, or of a `describe`, which is removed after them. */
export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'paddock-test-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}
