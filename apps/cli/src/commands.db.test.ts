import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { putInstallation, putJob, putPools, putWorker } from '@paddock/testing/demand-rows';
import { emptyAll, emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import type { AnswerOf } from '@paddock/api/endpoints';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { poison } from '@paddock/queue/kind';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { checkToken } from '@paddock/api/tokens/check-token';
import { sql } from 'kysely';
import { runCommand } from './run-command.ts';

const database = useTestDatabase();
const paddock = (...words: string[]) =>
  runCommand(words, { DATABASE_URL: database.url, PADDOCK_SCHEMA: database.schema });
/** What a command prints that does well. */
const said = async (...words: string[]) => {
  const { code, stdout, stderr } = await paddock(...words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
};
const lines = async (...words: string[]) => (await said(...words)).trimEnd().split('\n');

const beginEmpty = () => beforeAll(() => emptyAll(database.db));

const HOSTILE = `\u001B[2J\n\u202E${'🐎'.repeat(500)}`;

describe('the lists in the terminal', () => {
  beginEmpty();

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
    expect(await said('jobs', '--state', 'running')).toBe('There is no such job.\n');
    expect((await lines('jobs', '--reason', 'none'))[1]).toMatch(/^1 +waiting /);
    expect(await said('jobs', '--reason', 'at_pool_cap')).toBe('There is no such job.\n');
  });

  test('paddock job shows all of one (D12)', async () => {
    const job = await said('job', '1');
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
    const worker = await said('worker', 'w-1');
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
    expect(await said('trace', 'job', '2')).toMatch(
      /\n20\S+ +job +2 +2 +acme\/api +stored by Paddock\n/,
    );
    expect(await paddock('trace', 'payload', '9')).toMatchObject({ code: 1 });
  });

  test('paddock installations and redeliveries have a line for each (D12)', async () => {
    const [, row = ''] = await lines('installations');
    expect(row).toMatch(/^acme +90000001 +Organization +1001 +51000001 +installed +- +-$/);
    expect(await said('installation', '51000001')).toMatch(/\n +state: installed\n/);
    expect(await said('redeliveries')).toMatch(/^Every delivery has arrived/);
  });

  test('paddock diagnose says what is wrong, and who can mend it (G3)', async () => {
    const [sentence = '', who = ''] = await lines('diagnose', 'acme');
    expect(sentence).toBe('The rows have no delivery about acme.');
    expect(who).toMatch(/^  not_delivered; the platform team: /);
  });

  test('paddock usage sums up (D12)', async () => {
    const [line = ''] = await lines('usage', '--by', 'pool');
    expect(line).toMatch(/^Nothing has ended from 20/);
    await sql`insert into usage_hours (hour, entity_id, repo_id, repo_full_name, workflow_name, k8s_pool, queued, jobs, workers, pod_ms, idle_ms, thrown_away_ms)
      values (date_trunc('hour', now()), 90000001, 7, 'acme/api', 'CI', 'linux', '{12,12,12}', 3, 3, 600000, 60000, 0)`.execute(
      database.db,
    );
    const [, row = '', total = ''] = await lines('usage', '--by', 'workflow');
    expect(row).toMatch(/^acme\/api \/ CI +3 +3 +10\.0 +0\.0 +10\.0 % +0\.0 % +12 s +12 s$/);
    expect(total).toMatch(/^in all +3 +3 +10\.0/);
  });
});

describe('paddock why (P5)', () => {
  beginEmpty();
  const address = 'https://github.com/acme/api/actions/runs/77';
  let id = '';
  let worker = '';

  beforeAll(async () => {
    const { db } = database;
    await putInstallation(db);
    const job = await putJob(db, { run_id: 77, job_name: 'build\u001B[2J' });
    id = String(job.job_id);
    await db
      .insertInto('wait_reason_changes')
      .values({
        demand_key: job.demand_key,
        reason: 'pool_paused',
        since: new Date('2026-01-31T09:00:00Z'),
        until: new Date(job.created_at.getTime() + 1),
      })
      .execute();
    const { job_id } = await putJob(db, {
      status: 'running',
      wants_worker: false,
      queued_at: new Date('2026-01-31T09:00:00Z'),
      started_at: new Date('2026-01-31T09:02:00Z'),
    });
    await putWorker(db, { assigned_at: new Date(), assigned_job_id: job_id });
    ({ pod_name: worker } = await putWorker(db, { pod_uid: 'uid', stuck_reason: 'image_pull' }));
  });

  test('says the API’s sentence first, and who can act', async () => {
    const json = await said('why', id, '--json');
    const { sentence, advice } = JSON.parse(json) as AnswerOf<'whyJob'>;
    const stdout = await said('why', id);
    const [first, ...rest] = stdout.split('\n');
    expect(first).toBe(sentence);
    expect(rest.map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['job', `${id} build·[2J of acme/api`],
      ['pool', 'linux'],
      ['since', expect.stringMatching(/^\d{4}-/)],
      ['who can act', 'the platform team'],
      ['to do', advice],
      ['place', '1 of 1'],
      ['older elsewhere', '0 of its entity, 0 of others in its pool'],
      ['last starts', 'the last 1 of its queue waited 2 min (median)'],
      ['before', expect.stringMatching(/^pool_paused from 20.* to 20/)],
      ['WORKER', 'STATE', 'AGE', 'DETAIL'],
      [worker, 'stuck', expect.stringMatching(/ s$/), expect.stringContaining('image_pull')],
      [''],
    ]);
  });

  test('takes the address of the job, and of its run', async () => {
    const stdout = await said('why', `${address}/job/${id}`);
    expect(stdout).toContain(` ${id} build`);
    expect(await said('why', address)).toContain(` ${id} build`);
    const json = await said('why', address, '--json');
    expect(JSON.parse(json)).toMatchObject({ items: [{ job: { id: Number(id) } }], next: null });
    expect(await said('why', `${address}8`)).toMatch(/^No job of this run/);
  });
});

describe('paddock operations', () => {
  beginEmpty();
  let id = '';

  beforeAll(async () => {
    const subject = { type: 'repository', id: 'acme/app', name: 'acme/\u001B[2Japp' };
    const requestedBy = 'ada';
    const [task] = await enqueueAlone(database.db, [{ kind: 'resync', subject, requestedBy }]);
    id = task?.id ?? '';
  });

  test('shows columns, in which foreign text moves no cursor (F4)', async () => {
    const stdout = await said('operations', 'repository:acme/app');
    const [heads = '', row = '', ...rest] = stdout.split('\n');
    expect(heads).toMatch(/^ID +KIND +SUBJECT +STATUS/);
    expect(row).toContain(id);
    expect(row).toMatch(
      / resync +repository:acme\/·\[2Japp +QUEUED +0\/5 .* ada +waits for a free place .* -$/,
    );
    expect(rest).toEqual(['']);
  });

  test.each([
    [['operations', 'a:b', 'c:d'], 'too many arguments'],
    [['operations', 'acme'], 'must be TYPE:ID'],
    [['operations', 'a:b', '--limit', '0'], 'limit: Too small'],
    [['operations', 'failed', '--after', 'x'], 'must be the `next` of a page of this list'],
    [['operations', 'counts', '--from', 'noon'], 'must be a day'],
  ])('%j is a wrong command', async (words, problem) => {
    const { code, stdout, stderr } = await paddock(...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(problem);
    expect(stderr).toContain('Usage: paddock operation');
  });
});

const handler = () => Promise.resolve(poison('no such row'));

describe('failed operations in the terminal (F6)', () => {
  let ids: string[] = [];

  beforeEach(async () => {
    const { db } = database;
    await emptyTables(db, ['tasks', 'operations', 'actions']);
    const subjects = ['x', 'y'].map((id) => ({ type: 'worker', id }));
    const tasks = await enqueueAlone(
      db,
      subjects.map((subject) => ({ kind: 'a', subject })),
    );
    ids = tasks.map(({ id }) => id);
    await runDueTasks({ db, kinds: { a: { slots: 2, handler } } });
  });

  test('are retried or discarded one by one, and say by whom', async () => {
    const [one = '', other = ''] = ids;
    const retried = await said('operation', 'retry', one, '--by', 'ada');
    expect(retried).toMatch(/^queued: a of [xy], asked for by ada\. See /);
    expect(await said('operation', one)).toMatch(/\nhandled:\n  by: ada\n/);
    await paddock('operation', 'discard', other, '--by', 'grace');
    expect(await said('operations', 'failed')).toMatch(
      /^ID .*(\n.* poison: no such row +(retried by ada|discarded by grace)){2}\n$/,
    );
  });

  test('are retried or discarded by a filter', async () => {
    expect(await said('operations', 'retry', '--from', '-1h', '--dry-run')).toBe(
      '2 failed operations would be repeated.\n',
    );
    expect(await said('operations', 'discard', '--all')).toBe(
      '2 failed operations are discarded.\n',
    );
  });
});

describe('tasks in the terminal (F5)', () => {
  beginEmpty();

  beforeAll(async () => {
    await putPools(database.db);
    await putInstallation(database.db, { entity_id: 1, app_id: 7, installation_id: 2 });
    await database.db
      .insertInto('schedules')
      .values({ name: 'redeliver:7', last_tick_at: new Date() })
      .execute();
  });

  test('say which operation serves, and whose it is', async () => {
    const line =
      /^queued: discover-jobs of acme\/app, asked for by ada\. See `paddock operation \S+`\.\n$/;
    const stdout = await said('resync', 'acme/App', '--by', 'ada');
    expect(stdout).toMatch(line);
    expect(await said('resync', 'acme/app', '--by', 'grace')).toBe(stdout);
  });

  test.each([
    [['redeliver-since', '-1d', '--app', '7'], 'queued: redeliver of 7, '],
    [['run', 'delete-ended-pods', '--dry-run'], 'queued: delete-ended-pods of delete-ended-pods, '],
    [
      ['redeliver', '0b989ba4-242f-11e5-81e1-c7b6966d2516'],
      'queued: redeliver of 0b989ba4-242f-11e5-81e1-c7b6966d2516, ',
    ],
    [['resync', 'installation', '2'], 'queued: discover-jobs of acme, '],
    [['drain', 'pool', 'linux', '--dry-run'], '0 workers would stop; 0 go on to the end of '],
  ])('%j', async (words, begin) => {
    const stdout = await said(...words);
    expect(stdout).toContain(begin);
  });
});

describe('the switches in the terminal (F5, C12)', () => {
  beginEmpty();

  test('say how they stand, and are listed', async () => {
    await putPools(database.db);
    const held = await said('pause', 'pool:linux', '--by', 'ada', '--note', 'an image');
    expect(held).toMatch(/^pool:linux is paused by ada since \S+: an image\n$/);
    await paddock('pause', 'check-apps', '--by', 'grace');
    expect(await said('switches')).toMatch(
      /^SUBJECT .*\npool:linux +- +ada +\S+ +an image\ncheck-apps +- +grace +\S+ +-\n$/,
    );
    expect(await said('resume', 'pool:linux')).toBe('pool:linux goes on.\n');
    expect(await said('resume', 'check-apps')).toBe('check-apps goes on.\n');
    expect(await said('switches')).toBe('Nothing is paused.\n');
    expect(await said('actions')).toContain('stopped the making of workers of the pool linux');
  });
});

describe('paddock token (F7)', () => {
  beforeEach(() => emptyTables(database.db, ['tokens', 'actions']));

  test('prints a new token alone, which reads unless told otherwise', async () => {
    const stdout = await said('token', 'create', 'ci', '--by', 'ada', '--note', 'a build');
    expect(stdout).toMatch(/^paddock_\S+\n$/);
    expect(await checkToken(database.db, stdout.trim())).toMatchObject({ access: 'read' });
    expect(await said('actions')).toMatch(
      /^AT .*\n\S+ +ada +terminal +made the token ci +a build\n$/,
    );
  });

  test('shows and revokes tokens by name', async () => {
    await paddock('token', 'create', 'ci', '--access', 'operate', '--by', 'ada');
    const stdout = await said('token', 'revoke', 'ci', '--by', 'grace');
    expect(stdout).toMatch(/^NAME .*\nci +operate +- +\S+ +ada +- +\S+ +grace\n$/);
    expect(await said('token', 'list')).toBe(stdout);
    expect(await paddock('token', 'revoke', 'none')).toMatchObject({
      code: 1,
      stderr: 'There is no token of the name none.\n',
    });
  });
});
