import { beforeAll, describe, expect, test } from '@jest/globals';
import type { WhyAnswer } from '@paddock/api/why/why-answer';
import { putInstallation, putJob } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putWorker } from '@paddock/testing/worker-rows';
import { runCommand } from './run-command.ts';

describe('paddock why (P5)', () => {
  const database = useTestDatabase();
  const paddock = (...words: string[]) =>
    runCommand(words, { DATABASE_URL: database.url, PADDOCK_SCHEMA: database.schema });
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
    const { stdout: json } = await paddock('why', id, '--json');
    const { sentence, advice } = JSON.parse(json) as WhyAnswer;
    const { code, stdout, stderr } = await paddock('why', id);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [first, ...rest] = stdout.split('\n');
    expect(first).toBe(sentence);
    expect(rest.map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['job', `${id} build·[2J of acme/api, in the pool linux`],
      ['since', expect.stringMatching(/^\d{4}-/)],
      ['who can act', 'the platform team'],
      ['to do', advice],
      ['place', '1 of 1'],
      ['last starts', 'the last 1 of its queue waited 2 min (median)'],
      ['before', expect.stringMatching(/^pool_paused from 2026-01-31T09:00:00.000Z to /)],
      ['WORKER', 'STATE', 'AGE', 'DETAIL'],
      [worker, 'stuck', expect.stringMatching(/^\d+ s$/), expect.stringContaining('image_pull')],
      [''],
    ]);
  });

  test('takes the address of the job, and of its run', async () => {
    const { stdout } = await paddock('why', `${address}/job/${id}`);
    expect(stdout).toContain(` ${id} build`);
    expect((await paddock('why', address)).stdout).toContain(` ${id} build`);
    const { stdout: json } = await paddock('why', address, '--json');
    expect(JSON.parse(json)).toMatchObject({ items: [{ job: { id: Number(id) } }], next: null });
    expect((await paddock('why', `${address}8`)).stdout).toMatch(/^No job of this run/);
  });
});
