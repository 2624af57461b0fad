import { isoText, LONGEST_FAILURE } from '@paddock/db/newest-first';
import { sql } from 'kysely';
import { z } from 'zod';
import { instant } from '../lists/dates.ts';

const reason = z.object({ reason: z.string(), since: z.iso.datetime().nullable() }).nullable();

/** A worker as lists have it. */
export const workerRow = z.object({
  name: z.string().describe('Of its row, its registration, its Secret and its pod'),
  state: z.enum(['pending', 'running', 'stopping', 'ended', 'failed']),
  entity: z.object({ id: z.int(), login: z.string() }),
  repository: z.string().nullable().describe('Where it is registered, if it serves one only'),
  pool: z.string(),
  node: z.string().nullable(),
  warm: z.boolean().describe('It was made before a job wanted it'),
  job: z.int().nullable().describe('The job that it runs or ran'),
  stuck: reason.describe('Why its pod does not start'),
  stop: reason.describe('Why it is to end'),
  failure: z.string().nullable().describe('Why it failed or does not start, shortly'),
  createdAt: instant.describe('When it was reserved; lists are in its order'),
  runningAt: instant.nullable().describe('When its pod ran'),
  assignedAt: instant.nullable().describe('When it was known to run its job'),
  completedAt: instant.nullable(),
});

export type WorkerRow = z.output<typeof workerRow>;

/** SQL: the columns of a WorkerRow, of the worker `w`. */
export const WORKER_COLUMNS = sql`
  w.pod_name as name,
  case when w.status = 'completed' then 'ended' when w.status <> 'failed' and w.stopping_at is not null then 'stopping' else w.status::text end as state,
  json_build_object('id', w.entity_id, 'login', w.entity_name) as entity, w.repo_full_name as repository, w.k8s_pool as pool,
  w.k8s_node as node, w.is_warm as warm, w.assigned_job_id as job,
  case when w.stuck_reason is not null then json_build_object('reason', w.stuck_reason, 'since', ${isoText('w.stuck_at')}) end as stuck,
  case when w.stop_reason is not null then json_build_object('reason', w.stop_reason, 'since', ${isoText('w.stopping_at')}) end as stop,
  left(w.failure_info ->> 'message', ${LONGEST_FAILURE}) as failure, w.created_at as "createdAt", w.running_at as "runningAt",
  w.assigned_at as "assignedAt", w.completed_at as "completedAt"`;
