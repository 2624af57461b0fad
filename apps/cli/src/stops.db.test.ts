import { describe, expect, test } from '@jest/globals';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { runCommand } from './run-command.ts';

describe('the switches in the terminal (F5, C12)', () => {
  const database = useTestDatabase();
  const paddock = (...words: string[]) =>
    runCommand(words, { DATABASE_URL: database.url, PADDOCK_SCHEMA: database.schema });

  test('say how they stand, and are listed', async () => {
    await putPools(database.db, examplePools());
    const stopped = await paddock('stop-making', 'pool:linux', '--by', 'ada', '--note', 'an image');
    expect(stopped).toMatchObject({ code: 0, stderr: '' });
    expect(stopped.stdout).toMatch(
      /^The making of workers \(pool:linux\) has been stopped by ada since \S+: an image\n$/,
    );
    await paddock('pause', 'check-apps', '--by', 'grace');
    expect((await paddock('stops')).stdout).toMatch(
      /^WHAT .*\nmaking +pool:linux +- +ada +\S+ +an image\nsweep +check-apps +- +grace +\S+ +-\n$/,
    );
    expect((await paddock('resume', 'pool:linux')).stdout).toBe(
      'The making of workers (pool:linux) goes on.\n',
    );
    expect((await paddock('unpause', 'check-apps')).stdout).toBe('The sweep check-apps goes on.\n');
    expect((await paddock('stops')).stdout).toBe('Nothing is stopped or paused.\n');
    expect((await paddock('actions')).stdout).toContain('stopMaking');
  });

  test.each([
    [['stop-making'], 'It takes one subject'],
    [['stop-making', 'linux'], 'must be environment, pool:NAME'],
    [['pause', 'check-app'], 'sweep must be one of redeliver, '],
  ])('%j is a wrong command', async (words, problem) => {
    expect(await paddock(...words)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(problem),
    });
  });
});
