import { sql } from 'kysely';
import type { z } from 'zod';
import { listEntityActions } from '../actions/list-actions.ts';
import type { Caller } from '../endpoint.ts';
import { JOB_TIMELINE } from '../jobs/find-job.ts';
import { JOB_COLUMNS, type JobRow, WAITED_KEY } from '../jobs/job.ts';
import { rowsToRead, toPage } from '../lists/page.ts';
import type { timeline } from '../lists/timeline.ts';
import { listOperationsOf } from '../operations/list-operations.ts';
import { WORKER_TIMELINE } from '../workers/find-worker.ts';
import { WORKER_COLUMNS, type WorkerRow } from '../workers/worker.ts';
import { listJobEvents } from '../events/event.ts';
import type { TracedJob } from './find-traced.ts';
import { actionItem, eventItem, jobItem, KINDS, operationItem, workerItem } from './trace-item.ts';
import { byPosition, type Traceable, type TraceInput } from './trace-page.ts';

/** Each kind of a job's own rows: far above what any job has. */
const MOST = 1_000;

interface Happened {
  readonly timeline: z.output<typeof timeline>;
}

/** Reads what happened to a job and its worker, every instant of their rows, the newest first. */
export async function readJobTrace(
  { db }: Caller,
  { jobId, entityId, podName }: TracedJob,
  input: TraceInput,
): Promise<Traceable[]> {
  const page = { limit: MOST, after: undefined };
  const { rows: jobs } = await sql<JobRow & Happened>`
    select ${JOB_COLUMNS}, ${JOB_TIMELINE} as timeline from jobs j ${WAITED_KEY} where j.job_id = ${jobId}`.execute(
    db,
  );
  const { rows: workers } = await sql<WorkerRow & Happened>`
    select ${WORKER_COLUMNS}, ${WORKER_TIMELINE} as timeline from workers w where w.pod_name = ${podName}`.execute(
    db,
  );
  const operations =
    podName === null ? [] : await listOperationsOf(db, { type: 'worker', id: podName }, page);
  const actions = entityId === null ? [] : await listEntityActions(db, entityId, page);
  const all = [
    ...toPage(await listJobEvents(db, jobId, page), MOST).items.map((row) =>
      place(eventItem(row), row.id),
    ),
    ...jobs.flatMap(({ timeline: happened, ...row }) =>
      happened.map(({ at, what }) => place(jobItem(row, what, at), what)),
    ),
    ...workers.flatMap(({ timeline: happened, ...row }) =>
      happened.map(({ at, what }) => place(workerItem(row, what, at), what)),
    ),
    ...toPage(operations, MOST).items.map((row) => place(operationItem(row), row.id)),
    ...toPage(actions, MOST)
      .items.filter(({ subject }) => subject['job'] === jobId || subject['worker'] === podName)
      .map((row) => place(actionItem(row), String(row.id))),
  ];
  return choose(all, input);
}

const place = (item: Traceable['item'], id: string): Traceable => ({
  item,
  position: [item.at, KINDS.indexOf(item.kind), id],
});

function choose(
  placed: readonly Traceable[],
  { kind, from, to, after, limit }: TraceInput,
): Traceable[] {
  const isMeant = (one: Traceable): boolean =>
    (kind === undefined || one.item.kind === kind) &&
    (from === undefined || one.item.at >= from.toISOString()) &&
    (to === undefined || one.item.at < to.toISOString()) &&
    (after === undefined || byPosition(one, { ...one, position: after }) > 0);
  return placed.filter(isMeant).toSorted(byPosition).slice(0, rowsToRead(limit));
}
