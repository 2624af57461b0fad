import { beforeAll, describe, expect, test } from '@jest/globals';
import { examplePools, putInstallation, putPools } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { runCommand } from './run-command.ts';

describe('tasks in the terminal (F5)', () => {
  const database = useTestDatabase();
  const paddock = (...words: string[]) =>
    runCommand(words, { DATABASE_URL: database.url, PADDOCK_SCHEMA: database.schema });

  beforeAll(async () => {
    await putPools(database.db, examplePools());
    await putInstallation(database.db, { entity_id: 1, app_id: 7, installation_id: 2 });
    await database.db
      .insertInto('schedules')
      .values({ name: 'redeliver:7', last_tick_at: new Date() })
      .execute();
  });

  test('say which operation serves, and whose it is', async () => {
    const line = /^queued: discover-jobs of acme\/app\. See `paddock operation (\S+)`\.\n$/;
    const { stdout } = await paddock('resync', 'acme/App', '--by', 'ada');
    const [, id = ''] = line.exec(stdout) ?? [];
    expect(id).not.toBe('');
    expect((await paddock('resync', 'acme/app', '--by', 'grace')).stdout).toBe(
      `queued: discover-jobs of acme/app. ada asked for it before; it serves you too. See \`paddock operation ${id}\`.\n`,
    );
    const shown = await paddock('operation', id);
    expect(shown.stdout).toMatch(/asked for by: ada, grace\n$/);
  });

  test.each([
    [['redeliver-since', '-1d', '--app', '7'], 'queued: redeliver of 7.'],
    [['run', 'delete-ended-pods', '--dry-run'], 'queued: delete-ended-pods of delete-ended-pods.'],
    [['redeliver-since', '--app', '7', '-2h'], 'queued: redeliver of 7.'],
    [
      ['redeliver', '0b989ba4-242f-11e5-81e1-c7b6966d2516'],
      'queued: redeliver of 0b989ba4-242f-11e5-81e1-c7b6966d2516.',
    ],
    [['resync', 'installation', '2'], 'queued: discover-jobs of acme.'],
    [['drain', 'pool', 'linux', '--dry-run'], '0 workers would stop; 0 go on to the end of '],
    [['drain', 'pool', 'linux'], '0 workers are to stop; 0 go on to the end of their jobs.'],
    [['run', 'redeliver'], 'queued: redeliver of 7.'],
    [['pause', 'discover-jobs:acme/other'], 'discover-jobs:acme/other is paused by '],
    [['resume', 'discover-jobs:acme/other'], 'discover-jobs:acme/other goes on.'],
  ])('%j', async (words, begin) => {
    const { code, stdout, stderr } = await paddock(...words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(begin);
  });
});
