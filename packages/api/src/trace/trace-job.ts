import { listEntityActions } from '@paddock/db/people/actions';
import { findJob } from '@paddock/db/people/list-jobs';
import { findTracedJob, type TracedJob } from '@paddock/db/people/find-traced';
import { findWorker } from '@paddock/db/people/list-workers';
import { listJobEvents } from '@paddock/db/people/list-trace-events';
import { listOperationsOf } from '@paddock/queue/read-operations';
import { z } from 'zod';
import { type Caller, endpoint } from '../endpoint.ts';
import { timelineOfJob } from '../jobs/find-job.ts';
import { rowsToRead } from '../lists/page.ts';
import { notFound } from '../problem.ts';
import { timelineOfWorker } from '../workers/find-worker.ts';
import { readTrace } from './read-trace.ts';
import { answerTrace, findTraced } from './trace-entity.ts';
import { actionItem, eventItem, jobItem, KINDS, operationItem, workerItem } from './trace-item.ts';
import { byPosition, type Placed, traceAnswer, traceInput, type TraceInput } from './trace-page.ts';
import { githubId } from '../lists/whole.ts';

/** Each kind of a job's own rows: far above what any job has. */
const MOST = 1_000;

export const traceJobEndpoint = endpoint({
  name: 'traceJob',
  method: 'GET',
  path: '/api/v1/trace/job/{job}',
  summary:
    'Lists what happened to the entity of a job, or to the job and its worker only, the newest first.',
  access: 'read',
  status: 200,
  input: z.object({
    job: githubId(),
    only: z
      .enum(['job'])
      .optional()
      .describe('`job`: only the job and its worker, with every instant of their rows'),
    ...traceInput,
  }),
  output: traceAnswer,
  async answer(caller, input) {
    const found = await findTracedJob(caller.db, input.job);
    if (found === undefined)
      throw notFound(
        'No row names this job: no delivery about it arrived, or it ended so long ago that its rows were deleted.',
      );
    const traced = await findTraced(caller, found.entityId);
    const placed =
      input.only === undefined
        ? await readTrace(caller, traced, input)
        : choose(await readOwn(caller, input.job, found), input);
    return answerTrace(traced, placed, input);
  },
});

/** All that is stored about one job: few rows. */
async function readOwn(
  { db }: Caller,
  jobId: number,
  { entityId, podName }: TracedJob,
): Promise<Placed[]> {
  const page = { limit: MOST };
  const job = await findJob(db, jobId);
  const worker = podName === null ? undefined : await findWorker(db, podName);
  const operations =
    podName === null ? [] : await listOperationsOf(db, { type: 'worker', id: podName }, page);
  const actions = entityId === null ? [] : await listEntityActions(db, entityId, page);
  return [
    ...(await listJobEvents(db, jobId, page)).map((row) => place(eventItem(row), row.id)),
    ...(job === undefined
      ? []
      : timelineOfJob(job).map(({ at, what }) => place(jobItem(job, what, at), what))),
    ...(worker === undefined
      ? []
      : timelineOfWorker(worker).map(({ at, what }) => place(workerItem(worker, what, at), what))),
    ...operations.map((row) => place(operationItem(row), row.id)),
    ...actions
      .filter(
        ({ action: { subject } }) => subject['job'] === jobId || subject['worker'] === podName,
      )
      .map(({ action }) => place(actionItem(action), String(action.id))),
  ];
}

const place = (item: Placed['item'], id: string): Placed => ({
  item,
  position: [item.at, KINDS.indexOf(item.kind), id],
});

function choose(placed: readonly Placed[], { kind, from, to, after, limit }: TraceInput): Placed[] {
  const isMeant = (one: Placed): boolean =>
    (kind === undefined || one.item.kind === kind) &&
    (from === undefined || one.item.at >= from.toISOString()) &&
    (to === undefined || one.item.at < to.toISOString()) &&
    (after === undefined || byPosition(one, { ...one, position: after }) > 0);
  return placed.filter(isMeant).toSorted(byPosition).slice(0, rowsToRead(limit));
}
