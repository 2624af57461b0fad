import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');
const APPS = readdirSync(join(ROOT, 'apps'));

/** Plays an older Node.js that runs `node apps/NAME`: this one calls itself older. */
const startWithOldNode = (app: string) => {
  const program = join(ROOT, 'apps', app);
  const script = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' });
    process.argv[1] = ${JSON.stringify(program)};
    require(${JSON.stringify(program)});`;
  return spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
};

describe('node apps/NAME (H1)', () => {
  test.each(APPS)('%s says which Node.js it needs, and which is at hand', (app) => {
    const { status, stderr } = startWithOldNode(app);
    expect(stderr).toMatch(
      /^Paddock needs Node\.js 22\.18 or newer and was started with 20\.20\.2\.\n/,
    );
    expect(status).toBe(1);
  });

  test('starts the app with its arguments', () => {
    const { status, stdout } = spawnSync(process.execPath, [join(ROOT, 'apps', 'cli'), '--help'], {
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringContaining('paddock pools check FILE'),
    });
  });
});
