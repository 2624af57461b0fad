import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');

/**
 * One checker does each work once, where several do some of it each; and to look for unused memory
 * below that size would cost as much as the check. Both cut the CPU time to a third.
 */
const FRUGAL = { args: ['--checkers', '1'], env: { GOGC: 'off', GOMEMLIMIT: '2GiB' } };

test('the types of all sources fit', () => {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...FRUGAL.args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, ...FRUGAL.env },
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
});
