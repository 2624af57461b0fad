import {
  allOf,
  hasText,
  newestOf,
  newestOfFew,
  newestRows,
  type PageOfTime,
  type Position,
  readListed,
} from '@paddock/db/newest-first';
import type { Db } from '@paddock/db/schema/tables';
import { hasEnded, isUnended } from '@paddock/db/states/states';
import { WAIT_REASONS } from '@paddock/domain/matching/wait-reasons';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { type Caller, endpoint } from '../endpoint.ts';
import { dates } from '../lists/dates.ts';
import { entityIdOf, repoIdOf } from '../lists/named.ts';
import { pageInput, pageOf, type Placed, toPage } from '../lists/page.ts';
import { wrong } from '../problem.ts';
import {
  isAt,
  JOB_COLUMNS,
  jobPlace,
  type JobPlace,
  jobRow,
  type JobRow,
  WAITED_KEY,
} from './job.ts';

/** As a `reason`: the workers of the job are on their way. */
export const NOT_HELD = 'none';

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
  ...pageInput(z.tuple([z.iso.datetime(), z.int()])),
});

export const listJobsEndpoint = endpoint({
  name: 'listJobs',
  path: '/api/v1/jobs',
  summary:
    'Lists jobs, newest first, by the time when Paddock heard of them. Waiting and running ones take any filter; others take a repository with workflow and conclusion, or an entity, pool and conclusion.',
  input,
  output: pageOf(jobRow),
  answer: async (caller, given) => toPage(await read(caller, given), given.limit),
});

/** Throws a Problem for a combination that would read all ended jobs. */
async function read(caller: Caller, given: z.output<typeof input>): Promise<ListedJob[]> {
  const { state, pool, workflow, conclusion, repository: named, reason, ...page } = given;
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
  if (reason !== undefined) return listJobsByReason(caller.db, { ...place, reason }, page);
  if (state === 'waiting' || state === 'running')
    return listActiveJobs(caller.db, { ...place, state }, page);
  return listJobs(caller.db, { ...place, isEnded: state === 'ended', conclusion }, page);
}

type ListedJob = Placed<JobRow, Position<number>>;

const JOBS = {
  table: sql`jobs`,
  id: sql`job_id`,
  idType: sql`bigint`,
  columns: JOB_COLUMNS,
  joined: sql`jobs j using (job_id) ${WAITED_KEY}`,
  positionId: sql`j.job_id`,
};

const readFew = (
  db: Db,
  condition: RawBuilder<unknown>,
  page: PageOfTime<number>,
): Promise<ListedJob[]> => readListed(db, JOBS, newestOfFew(JOBS, condition, page));

/** Jobs that wait or run, newest first: they are few, so that every combination is fast. */
const listActiveJobs = (
  db: Db,
  { state, ...place }: JobPlace & { readonly state: 'waiting' | 'running' },
  page: PageOfTime<number>,
): Promise<ListedJob[]> =>
  readFew(db, sql`status = ${state === 'waiting' ? 'pending' : state} and ${isAt(place)}`, page);

const listJobsByReason = (
  db: Db,
  { reason, ...place }: JobPlace & { readonly reason: string },
  page: PageOfTime<number>,
): Promise<ListedJob[]> => {
  const held = sql`select demand_key from demand_keys where wait_reason`;
  const isHeld =
    reason === NOT_HELD
      ? sql`demand_key not in (${held} is not null)`
      : sql`demand_key in (${held} = ${reason})`;
  return readFew(db, sql`wants_worker and ${isHeld} and ${isAt(place)}`, page);
};

/**
 * Jobs, newest first. Ended ones are many: an index finds those of a repository, an entity, a pool
 * or a conclusion. No job has a conclusion before it has ended.
 */
export function listJobs(
  db: Db,
  {
    isEnded = false,
    conclusion,
    ...place
  }: JobPlace & { readonly isEnded?: boolean; readonly conclusion?: string | undefined },
  page: PageOfTime<number | string>,
): Promise<ListedJob[]> {
  const isMeant = allOf(isAt(place), hasText('conclusion', conclusion));
  const ended = newestRows(JOBS, sql`${sql.raw(hasEnded('jobs'))} and ${isMeant}`, page);
  if (isEnded || conclusion !== undefined) return readListed(db, JOBS, ended);
  const active = newestOfFew(JOBS, sql`${isUnended('jobs')} and ${isMeant}`, page);
  return readListed(db, JOBS, newestOf(JOBS, [active, ended], page));
}
