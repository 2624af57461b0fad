import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Database, Status, WorkersTable } from '../schema/tables.ts';
import { LIVE } from '../states/worker-states.ts';
import {
  allOf,
  has,
  LONGEST_FAILURE,
  newestOf,
  newestOfFew,
  newestRows,
  type PageOfTime,
  type Position,
  readListed,
} from './newest-first.ts';

export interface WorkersFilter {
  readonly entityId?: number | undefined;
  readonly pool?: string | undefined;
}

/** `pending` and `running` mean those that are not to be stopped. */
export type LiveState = 'pending' | 'running' | 'stopping';

/** What lists say of a worker. */
export interface WorkerSummary {
  readonly podName: string;
  readonly status: Status;
  readonly entityId: number;
  readonly entityName: string;
  readonly repoFullName: string | null;
  readonly pool: string;
  readonly node: string | null;
  readonly isWarm: boolean;
  readonly assignedJobId: number | null;
  readonly stuckReason: string | null;
  readonly stuckAt: Date | null;
  readonly stopReason: string | null;
  readonly stoppingAt: Date | null;
  /** The beginning of why it failed or does not start. */
  readonly failure: string | null;
  readonly createdAt: Date;
  readonly runningAt: Date | null;
  readonly assignedAt: Date | null;
  readonly completedAt: Date | null;
}

export interface ListedWorker extends WorkerSummary {
  readonly position: Position<string>;
}

/** The columns of a WorkerSummary, of the worker `w`. */
const SUMMARY = sql`
  w.pod_name as "podName", w.status, w.entity_id as "entityId", w.entity_name as "entityName", w.repo_full_name as "repoFullName",
  w.k8s_pool as pool, w.k8s_node as node, w.is_warm as "isWarm", w.assigned_job_id as "assignedJobId", w.stuck_reason as "stuckReason",
  w.stuck_at as "stuckAt", w.stop_reason as "stopReason", w.stopping_at as "stoppingAt",
  left(w.failure_info ->> 'message', ${LONGEST_FAILURE}) as failure, w.created_at as "createdAt", w.running_at as "runningAt",
  w.assigned_at as "assignedAt", w.completed_at as "completedAt"`;

const WORKERS = {
  table: sql`workers`,
  id: sql`pod_name`,
  idType: sql`text`,
  columns: SUMMARY,
  joined: sql`workers w using (pod_name)`,
  positionId: sql`w.pod_name`,
};

/** Workers that live, newest first: they are few, so that every combination is fast. */
export const listLiveWorkers = (
  db: Kysely<Database>,
  filter: WorkersFilter & { readonly state: LiveState },
  page: PageOfTime<string>,
): Promise<ListedWorker[]> => readListed(db, WORKERS, liveWorkers(filter, page));

/** Workers, newest first; with an `end`, those that ended so. */
export function listWorkers(
  db: Kysely<Database>,
  { end, ...filter }: WorkersFilter & { readonly end?: 'completed' | 'failed' | undefined },
  page: PageOfTime<string>,
): Promise<ListedWorker[]> {
  const hasEnded = sql`completed_at is not null`;
  const ended = newestRows(WORKERS, allOf(hasEnded, isAt(filter), has('status', end)), page);
  return readListed(
    db,
    WORKERS,
    end === undefined ? newestOf(WORKERS, [liveWorkers(filter, page), ended], page) : ended,
  );
}

const liveWorkers = (
  { state, ...filter }: WorkersFilter & { readonly state?: LiveState },
  page: PageOfTime<string>,
): RawBuilder<unknown> =>
  newestOfFew(
    WORKERS,
    allOf(
      LIVE,
      isAt(filter),
      state &&
        (state === 'stopping'
          ? sql`stopping_at is not null`
          : sql`status = ${state} and stopping_at is null`),
    ),
    page,
  );

/** Whether a row of `workers` is one of these. */
const isAt = ({ entityId, pool }: WorkersFilter): RawBuilder<boolean> =>
  allOf(has('entity_id', entityId), has('k8s_pool', pool));

/** A worker as lists have it, with its whole row. */
export type FoundWorker = WorkerSummary & Selectable<WorkersTable>;

/** Undefined: there is no worker of this name, or its row was deleted. */
export async function findWorker(
  db: Kysely<Database>,
  podName: string,
): Promise<FoundWorker | undefined> {
  const { rows } = await sql<FoundWorker>`
    select w.*, ${SUMMARY} from workers w where pod_name = ${podName}`.execute(db);
  return rows[0];
}
