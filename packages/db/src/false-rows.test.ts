import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import * as falseRows from './scenes/false-rows.scene.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FALSE_ROWS = 'packages/db/src/scenes/false-rows.scene.ts';

test('each false type of a statement’s rows is found, and nothing else', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['tools/statements/main.ts', FALSE_ROWS],
    { cwd: ROOT },
  ).catch((error: { stdout: string }) => error);
  const found = stdout.trimEnd().split('\n');
  expect(found).toHaveLength(Object.keys(falseRows).length);
  expect(found.map((line) => line.replace(/^.*\.ts:\d+:\d+: /, ''))).toEqual([
    'podNmae is not among the columns',
    'podUid may be null',
    'podName may be null',
    'total is string, not number',
    'jobId is number, not string',
    'status is not among the columns',
    'payload is json, not Date',
  ]);
});
