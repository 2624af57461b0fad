import { listActiveJobs, listJobs, listJobsByReason } from '@paddock/db/people/list-jobs';
import { WAIT_REASONS } from '@paddock/domain/matching/wait-reasons';
import { z } from 'zod';
import { type Caller, endpoint } from '../endpoint.ts';
import { dates } from '../lists/dates.ts';
import { entityIdOf, ofKnownPool, repoIdOf } from '../lists/named.ts';
import { after, limit, pageOf, rowsToRead, toPage } from '../lists/page.ts';
import { wrong } from '../problem.ts';
import { jobPlace } from './job-place.ts';
import { jobRow, toJobRow } from './job.ts';

/** As a `reason`: the workers of the job are on their way. */
const NOT_HELD = 'none';

const input = z.object({
  state: z.enum(['waiting', 'running', 'ended']).optional(),
  reason: z
    .enum([NOT_HELD, ...Object.keys(WAIT_REASONS)])
    .optional()
    .describe(
      `Of waiting jobs: why they wait, as the counts have it; ${NOT_HELD}: nothing holds their workers back`,
    ),
  ...jobPlace,
  conclusion: z.string().min(1).max(50).optional().describe('As success, failure or cancelled'),
  ...dates,
  limit,
  after: after(z.tuple([z.iso.datetime(), z.int()])),
});

export const listJobsEndpoint = endpoint({
  name: 'listJobs',
  method: 'GET',
  path: '/api/v1/jobs',
  summary:
    'Lists jobs, newest first, by the time when Paddock heard of them. Waiting and running ones take any filter; others take a repository with workflow and conclusion, or an entity, pool and conclusion.',
  access: 'read',
  status: 200,
  input,
  output: pageOf(jobRow),
  answer: async (caller, given) =>
    toPage(
      await ofKnownPool(caller, given.pool, read(caller, given)),
      given.limit,
      ({ position }) => position,
      toJobRow,
    ),
});

/** Throws a Problem for a combination that would read all ended jobs. */
async function read(caller: Caller, given: z.output<typeof input>) {
  const { state, pool, workflow, conclusion, from, to } = given;
  const page = { limit: rowsToRead(given.limit), after: given.after, from, to };
  const { repository: named, reason } = given;
  if (reason !== undefined && (state ?? 'waiting') !== 'waiting')
    throw wrong('Only waiting jobs have a `reason`: leave it out, or `state`.');
  const isActive = state === 'waiting' || state === 'running' || reason !== undefined;
  if (isActive && conclusion !== undefined)
    throw wrong('Jobs that wait or run have no conclusion: leave out `conclusion` or `state`.');
  if (!isActive && named === undefined && workflow !== undefined)
    throw wrong('Add `repository`, or `state` waiting or running, to `workflow`.');
  if (!isActive && named !== undefined && (pool ?? given.entity) !== undefined)
    throw wrong(
      'Leave out `entity` and `pool` beside `repository`, or add `state` waiting or running.',
    );
  const entityId = await entityIdOf(caller, given.entity);
  const repoId = await repoIdOf(caller, named);
  const place = { entityId, repoId, pool, workflow };
  if (reason !== undefined)
    return listJobsByReason(
      caller.db,
      { ...place, reason: reason === NOT_HELD ? null : reason },
      page,
    );
  if (state === 'waiting' || state === 'running')
    return listActiveJobs(caller.db, { ...place, state }, page);
  return listJobs(caller.db, { ...place, isEnded: state === 'ended', conclusion }, page);
}
