import { expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putJob } from '@paddock/testing/demand-rows';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { hasEnded, hasLiveRunner, isUnended } from './states.ts';

const database = useTestDatabase();

const at = minutesAgo(1);
const ended = { wants_worker: false, conclusion: 'success' };
const live = { status: 'running' } as const;

test.each([
  ['waits', { status: 'pending' }, undefined, ['unended']],
  ['runs elsewhere', { status: 'running', wants_worker: false }, undefined, ['unended']],
  [
    'runs on a live worker',
    { status: 'running', wants_worker: false },
    live,
    ['live runner', 'unended'],
  ],
  [
    'runs on a worker whose pod has not started',
    { status: 'running', wants_worker: false },
    {},
    ['live runner', 'unended'],
  ],
  [
    'runs on a worker whose runner ended',
    { status: 'running', wants_worker: false },
    { ...live, runner_ended_at: at },
    ['unended'],
  ],
  [
    'runs on a worker that ended',
    { status: 'running', wants_worker: false },
    { status: 'completed', completed_at: at },
    ['unended'],
  ],
  ['has completed', { status: 'completed', ...ended }, undefined, ['ended']],
  ['has failed', { status: 'failed', ...ended }, undefined, ['ended']],
] as const)('a job that %s (A6)', async (_which, job, worker, expected) => {
  const k8sPod = worker === undefined ? null : (await putWorker(database.db, worker)).pod_name;
  const { job_id: id } = await putJob(database.db, { ...job, k8s_pod: k8sPod });
  const { rows } = await sql<Record<string, boolean>>`
    select ${sql.raw(hasEnded('j'))} as ended, ${hasLiveRunner} as "live runner", ${isUnended('j')} as unended
    from jobs j where job_id = ${id}`.execute(database.db);
  expect(Object.keys(rows[0] ?? {}).filter((state) => rows[0]?.[state] === true)).toEqual(expected);
});
