import { expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { minutesAgo, putJob, putWorker } from '@paddock/testing/demand-rows';
import { sql } from 'kysely';
import {
  hasEnded,
  hasLiveRunner,
  isUnended,
  LIVE,
  PLACELESS,
  RESERVED,
  RETIRABLE,
  RETURNABLE,
  STOPPING,
  UNASSIGNED,
  UNEXPLAINED,
} from './states.ts';

const database = useTestDatabase();

const COMPLETED = { status: 'completed', completed_at: minutesAgo(1) } as const;
const STATES = {
  LIVE,
  PLACELESS,
  RESERVED,
  RETIRABLE,
  RETURNABLE,
  STOPPING,
  UNASSIGNED,
  UNEXPLAINED,
};
const at = minutesAgo(1);
const begun = { registration_started_at: at };
const registered = { ...begun, registered_at: at };
const stopping = { ...registered, stopping_at: at, stop_reason: 'surplus' };

test.each([
  ['that is only a row', {}, 'LIVE RESERVED UNASSIGNED'],
  [
    'that is only a row, and is to end',
    { stopping_at: at, stop_reason: 'drained' },
    'LIVE RESERVED STOPPING',
  ],
  ['whose registration has begun', begun, 'LIVE UNASSIGNED'],
  ['that is registered', registered, 'LIVE RETIRABLE UNASSIGNED'],
  ['with a known pod only', { pod_uid: 'uid' }, 'LIVE RETIRABLE UNASSIGNED'],
  [
    'that no node takes',
    { ...registered, unschedulable_at: at },
    'LIVE PLACELESS RETIRABLE UNASSIGNED',
  ],
  [
    'that no node takes and is to end',
    { ...stopping, unschedulable_at: at },
    'LIVE RETURNABLE STOPPING',
  ],
  ['whose pod goes before it started', { ...registered, terminating_at: at }, 'LIVE'],
  [
    'whose pod goes while it runs',
    { ...registered, terminating_at: at, running_at: at },
    'LIVE RETIRABLE UNASSIGNED',
  ],
  ['that runs a job', { ...registered, status: 'running', assigned_at: at }, 'LIVE'],
  ['that runs a job and is to end', { ...stopping, assigned_at: at }, 'LIVE STOPPING'],
  ['that is to end as surplus', stopping, 'LIVE RETURNABLE STOPPING'],
  ['that is to end as idle', { ...stopping, stop_reason: 'idle' }, 'LIVE RETURNABLE STOPPING'],
  [
    'that is to end as surplus, and whose pod is gone',
    { ...stopping, pod_gone_at: at },
    'LIVE STOPPING',
  ],
  [
    'that is to end, and whose pod goes before it started',
    { ...stopping, terminating_at: at },
    'LIVE STOPPING',
  ],
  ['that is to end jobless', { ...stopping, stop_reason: 'not_assigned' }, 'LIVE STOPPING'],
  [
    'whose deregistration has begun',
    { ...stopping, deregistration_started_at: at },
    'LIVE STOPPING',
  ],
  [
    'that ended without a known job',
    { ...COMPLETED, unexplained_until: minutesAgo(-1) },
    'UNEXPLAINED',
  ],
  [
    'that ended so, and whose job came',
    { ...COMPLETED, unexplained_until: minutesAgo(-1), assigned_at: at },
    '',
  ],
  ['that ended so long ago', { ...COMPLETED, unexplained_until: at }, ''],
  ['that failed as a reservation', { status: 'failed', completed_at: at }, ''],
] as const)('a worker %s (C3)', async (_which, row, expected) => {
  const { pod_name: name } = await putWorker(database.db, row);
  const columns = Object.entries(STATES).map(([state, holds]) => sql`${holds} as ${sql.id(state)}`);
  const { rows } = await sql<
    Record<string, boolean | null>
  >`select ${sql.join(columns)} from workers where pod_name = ${name}`.execute(database.db);
  const holding = Object.keys(STATES).filter((state) => rows[0]?.[state] === true);
  expect(holding.join(' ')).toBe(expected);
});

const RUNS = { status: 'running', wants_worker: false } as const;
const ended = { wants_worker: false, conclusion: 'success' };
const live = { status: 'running' } as const;

test.each([
  ['waits', { status: 'pending' }, undefined, 'unended'],
  ['runs elsewhere', RUNS, undefined, 'unended'],
  ['runs on a live worker', RUNS, live, 'live runner, unended'],
  ['runs on a worker whose pod has not started', RUNS, {}, 'live runner, unended'],
  ['runs on a worker whose runner ended', RUNS, { ...live, runner_ended_at: at }, 'unended'],
  ['runs on a worker that ended', RUNS, COMPLETED, 'unended'],
  ['has completed', { status: 'completed', ...ended }, undefined, 'ended'],
  ['has failed', { status: 'failed', ...ended }, undefined, 'ended'],
] as const)('a job that %s (A6)', async (_which, job, worker, expected) => {
  const k8sPod = worker === undefined ? null : (await putWorker(database.db, worker)).pod_name;
  const { job_id: id } = await putJob(database.db, { ...job, k8s_pod: k8sPod });
  const { rows } = await sql<Record<string, boolean>>`
    select ${sql.raw(hasEnded('j'))} as ended, ${hasLiveRunner} as "live runner", ${isUnended('j')} as unended
    from jobs j where job_id = ${id}`.execute(database.db);
  const holding = Object.keys(rows[0] ?? {}).filter((state) => rows[0]?.[state] === true);
  expect(holding.join(', ')).toBe(expected);
});
