import { beforeAll, describe, expect, test } from '@jest/globals';
import { putInstallation, putJob } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putWorker } from '@paddock/testing/worker-rows';
import { runCommand } from './run-command.ts';

const HOSTILE = `\u001B[2J\n\u202E${'🐎'.repeat(500)}`;

describe('the lists in the terminal', () => {
  const database = useTestDatabase();
  const paddock = async (...words: string[]) => {
    const environment = { DATABASE_URL: database.url, PADDOCK_SCHEMA: database.schema };
    const { code, stdout, stderr } = await runCommand(words, environment);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  const lines = async (...words: string[]) => (await paddock(...words)).trimEnd().split('\n');

  beforeAll(async () => {
    await putJob(database.db, { job_id: 1, job_name: HOSTILE, workflow_name: null });
    await putJob(database.db, {
      job_id: 2,
      status: 'completed',
      wants_worker: false,
      conclusion: 'failure',
      workflow_name: 'CI',
    });
  });

  test('paddock jobs shows jobs in columns, and how to see more (D12)', async () => {
    const [heads = '', newest = '', , next = ''] = await lines('jobs', '--limit', '1');
    expect(heads).toMatch(/^ID +STATE +REPOSITORY +JOB/);
    expect(newest).toMatch(/^2 +failure +acme\/api +CI \/ build +linux +20/);
    const [, first, ...others] = await lines('jobs', '--after', next.split(' ').at(-1) ?? '');
    expect(first).toMatch(/^1 +waiting /);
    expect(others).toEqual([]);
    expect(await paddock('jobs', '--state', 'running')).toBe('There is no such job.\n');
    expect((await lines('jobs', '--reason', 'none'))[1]).toMatch(/^1 +waiting /);
    expect(await paddock('jobs', '--reason', 'at_pool_cap')).toBe('There is no such job.\n');
  });

  test('paddock job shows all of one (D12)', async () => {
    const job = await paddock('job', '1');
    expect(job).toMatch(/^id: 1\nstate: waiting\nname: /);
    expect(job).toContain('    what: stored by Paddock\n');
    expect(job.replaceAll('\n', '')).not.toMatch(/\p{C}/u);
  });

  test('paddock workers says why each is stuck, and paddock worker all of one (D12)', async () => {
    await putWorker(database.db, {
      pod_name: 'w-1',
      stuck_reason: 'image_pull',
      stuck_at: new Date(0),
      failure_info: JSON.stringify({ version: 1, message: HOSTILE }),
    });
    const [, row = ''] = await lines('workers', '--state', 'pending', '--pool', 'linux');
    expect(row).toMatch(/^w-1 +pending +linux +acme +- +20\S+ +image_pull: ·\[2J/);
    const worker = await paddock('worker', 'w-1');
    expect(worker).toContain('    what: reserved\n');
    expect(worker).toContain(HOSTILE.slice(-10));
    expect(worker.replaceAll('\n', '')).not.toMatch(/\p{C}/u);
  });

  test('paddock trace shows what happened to an entity, in columns (G2)', async () => {
    await putInstallation(database.db);
    const [name = '', , heads = '', newest = ''] = await lines('trace', 'ACME', '--limit', '1');
    expect(name).toBe('acme (90000001)');
    expect(heads).toMatch(/^AT +KIND +ID +JOB +REPOSITORY +WHAT$/);
    expect(newest).toMatch(/^20\S+ +worker +w-1 +- +- +reserved$/);
    const own = await paddock('trace', 'job', '2', '--only', 'job');
    expect(own).toMatch(/\n20\S+ +job +2 +2 +acme\/api +stored by Paddock\n/);
    const environment = { DATABASE_URL: database.url, PADDOCK_SCHEMA: database.schema };
    for (const words of [
      ['installation', '9'],
      ['payload', '9'],
    ])
      expect(await runCommand(['trace', ...words], environment)).toMatchObject({ code: 1 });
  });

  test('paddock installations and redeliveries have a line for each (D12)', async () => {
    const [, row = ''] = await lines('installations');
    expect(row).toMatch(/^acme +90000001 +Organization +1001 +51000001 +installed +- +-$/);
    expect(await paddock('installation', '51000001')).toMatch(/\n +state: installed\n/);
    expect(await paddock('redeliveries')).toMatch(/^Every delivery has arrived/);
    expect(await paddock('redeliveries', 'given-up')).toBe('No delivery was given up.\n');
  });

  test('paddock diagnose says what is wrong, and who can mend it (G3)', async () => {
    const [sentence = '', who = ''] = await lines('diagnose', 'acme');
    expect(sentence).toBe('The rows have no delivery about acme.');
    expect(who).toMatch(/^  not_delivered; the platform team: /);
  });

  test('paddock usage sums up, as a table and as CSV (D12)', async () => {
    const [line = ''] = await lines('usage', '--by', 'pool');
    expect(line).toMatch(/^Nothing has ended from 20/);
    await database.db
      .insertInto('usage_hours')
      .values({
        hour: new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000),
        entity_id: 90_000_001,
        repo_id: 7,
        repo_full_name: 'acme/api',
        workflow_name: 'CI',
        k8s_pool: 'linux',
        queued: [12, 12, 12],
        jobs: 3,
        workers: 3,
        pod_ms: 600_000,
        idle_ms: 60_000,
        thrown_away_ms: 0,
      })
      .execute();
    const [, row = '', total = ''] = await lines('usage', '--by', 'workflow');
    expect(row).toMatch(/^acme\/api \/ CI +3 +3 +10\.0 +10\.0 % +0\.0 % +12 s +12 s$/);
    expect(total).toMatch(/^in all +3 +3 +10\.0/);
    expect(await paddock('usage', '--csv')).toMatch(/\r\n,acme\/api,,,3,3,10,1,0,12,12\r\n$/);
  });
});
