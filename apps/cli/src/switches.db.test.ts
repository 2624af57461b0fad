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
    const held = await paddock('pause', 'pool:linux', '--by', 'ada', '--note', 'an image');
    expect(held).toMatchObject({ code: 0, stderr: '' });
    expect(held.stdout).toMatch(/^pool:linux is paused by ada since \S+: an image\n$/);
    await paddock('pause', 'check-apps', '--by', 'grace');
    expect((await paddock('switches')).stdout).toMatch(
      /^SUBJECT .*\npool:linux +- +ada +\S+ +an image\ncheck-apps +- +grace +\S+ +-\n$/,
    );
    expect((await paddock('resume', 'pool:linux')).stdout).toBe('pool:linux goes on.\n');
    expect((await paddock('resume', 'check-apps')).stdout).toBe('check-apps goes on.\n');
    expect((await paddock('switches')).stdout).toBe('Nothing is paused.\n');
    expect((await paddock('actions')).stdout).toContain('setSwitch');
  });
});
