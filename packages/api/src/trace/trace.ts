import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import type { AppPlace } from '../events/events.ts';
import { findEntityByLogin, FORMER_LOGINS, ID } from '../lists/named.ts';
import { type Caller, endpoint } from '../endpoint.ts';
import { githubId, toPage } from '../lists/page.ts';
import { notFound, wrong } from '../problem.ts';
import { readJobTrace, readTrace, traceAnswer, traceInput } from './read-trace.ts';

/** Whose trace is asked for. */
export interface Traced {
  readonly entity: z.output<typeof traceAnswer>['entity'];
  /** Where events without an entity belong to it. */
  readonly places: readonly AppPlace[];
}

/** What is known of an entity by its id. Undefined: nothing. */
export async function findTracedEntity(
  db: Kysely<Database>,
  entityId: number,
): Promise<Traced | undefined> {
  const rows = await db
    .selectFrom('installations')
    .select(['login', 'app_id as appId', 'installation_id as installationId'])
    .where('entity_id', '=', entityId)
    .orderBy('deleted_at', (by) => by.desc().nullsFirst())
    .orderBy('updated_at', 'desc')
    .execute();
  const { rows: former } = await sql<{ login: string }>`
    select former as login from ${FORMER_LOGINS} where entity_id = ${entityId} group by former order by max(left_at) desc, former`.execute(
    db,
  );
  const login = rows[0]?.login ?? null;
  if (login === null && former.length === 0 && !(await hasEvents(db, entityId))) return undefined;
  return {
    entity: {
      id: entityId,
      login,
      formerly: former
        .map((one) => one.login)
        .filter((name) => name.toLowerCase() !== login?.toLowerCase()),
    },
    places: rows.flatMap(({ appId, installationId }) => [
      { appId, installationId },
      { appId, installationId: null },
    ]),
  };
}

async function hasEvents(db: Kysely<Database>, entityId: number): Promise<boolean> {
  const events = db.selectFrom('installation_events').where('entity_id', '=', entityId).limit(1);
  return (await events.execute()).length > 0;
}

/**
 * The entity of an installation, also of one before a reinstallation, and the installation itself.
 * Undefined: no row names it.
 */
export async function findTracedInstallation(
  db: Kysely<Database>,
  installationId: number,
): Promise<Traced | undefined> {
  const { rows } = await sql<{ entityId: number | null; appId: number | null }>`
    select * from (
      (select 0 as place, entity_id as "entityId", app_id as "appId" from installations where installation_id = ${installationId} limit 1)
      union all
      (select 1, entity_id, app_id from installation_events where installation_id = ${installationId} and entity_id is not null limit 1)
      union all
      (select 2, null, app_id from installation_events where installation_id = ${installationId} and entity_id is null limit 1)
    ) named order by place limit 1`.execute(db);
  const [named] = rows;
  if (named === undefined) return undefined;
  const traced = named.entityId === null ? undefined : await findTracedEntity(db, named.entityId);
  const own = named.appId === null ? [] : [{ appId: named.appId, installationId }];
  if (traced === undefined) return { entity: null, places: own };
  const isKnown = traced.places.some((place) => place.installationId === installationId);
  return { ...traced, places: isKnown ? traced.places : [...traced.places, ...own] };
}

/** Where a job's trace is found. */
export interface TracedJob {
  readonly jobId: number;
  readonly entityId: number | null;
  /** Null: the job has no row, as one that no pool serves. */
  readonly podName: string | null;
}

/** Undefined: no row names the job. */
export async function findTracedJob(
  db: Kysely<Database>,
  jobId: number,
): Promise<TracedJob | undefined> {
  const { rows } = await sql<TracedJob>`
    select ${jobId}::bigint as "jobId", "entityId", "podName" from (
      select 0 as place, entity_id as "entityId", k8s_pod as "podName" from jobs where job_id = ${jobId}
      union all
      select 1, max(entity_id), null from installation_events where job_id = ${jobId} having count(*) > 0
    ) named order by place limit 1`.execute(db);
  return rows[0];
}

export const traceEndpoint = endpoint({
  name: 'trace',
  path: '/api/v1/trace/{of}/{id}',
  summary:
    'Lists what happened to an entity, by its login or id, or to that of an installation or a job, the newest first: deliveries, jobs, workers, operations and actions.',
  input: z.object({
    of: z.enum(['entity', 'installation', 'job']),
    id: z.string().min(1).max(300).describe('An id; of an entity also a login, or a former one'),
    only: z
      .enum(['job'])
      .optional()
      .describe('`job`: only the job and its worker, with every instant of their rows'),
    ...traceInput,
  }),
  output: traceAnswer,
  async answer(caller, input) {
    const { only } = input;
    if (input.of !== 'job' && only !== undefined) throw wrong('`only` is for the trace of a job.');
    const { traced, job } = await find(caller, input);
    const placed =
      job === undefined || only === undefined
        ? await readTrace(caller, traced, input)
        : await readJobTrace(caller, job, input);
    const { items, next } = toPage(placed, input.limit);
    return { items: items.map(({ item }) => item), next, entity: traced.entity };
  },
});

/** Whose trace it is, and the job that was asked for. Rejects with a Problem if no row names it. */
async function find(
  { db }: Caller,
  { of, id: named }: { of: 'entity' | 'installation' | 'job'; id: string },
): Promise<{ traced: Traced; job?: TracedJob }> {
  if (of === 'entity') {
    const id = ID.test(named) ? Number(named) : await findEntityByLogin(db, named);
    const traced = id === undefined ? undefined : await findTracedEntity(db, id);
    if (traced !== undefined) return { traced };
    throw notFound(`No row names the entity ${named}: no App of Paddock was ever seen on it.`);
  }
  const { data: id } = githubId().safeParse(named);
  if (id === undefined)
    throw wrong(`The id of ${of === 'job' ? 'a job' : 'an installation'} is a number.`);
  if (of === 'installation') {
    const traced = await findTracedInstallation(db, id);
    if (traced !== undefined) return { traced };
    throw notFound('No row names this installation: no delivery of it ever arrived.');
  }
  const job = await findTracedJob(db, id);
  if (job === undefined)
    throw notFound(
      'No row names this job: no delivery about it arrived, or it ended so long ago that its rows were deleted.',
    );
  const traced = job.entityId === null ? undefined : await findTracedEntity(db, job.entityId);
  return { traced: traced ?? { entity: null, places: [] }, job };
}
