import { rowOf, rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { z } from 'zod';
import { findEntityByLogin, FORMER_LOGINS, ID } from '../lists/named.ts';
import { type Caller, endpoint } from '../endpoint.ts';
import { githubId, toPage } from '../lists/page.ts';
import { notFound, wrong } from '../problem.ts';
import { readTrace, type Subject, traceAnswer, traceInput } from './read-trace.ts';

async function findTracedEntity(db: Db, entityId: number): Promise<Subject | undefined> {
  const rows = await db
    .selectFrom('installations')
    .select(['login', 'app_id as appId', 'installation_id as installationId'])
    .where('entity_id', '=', entityId)
    .orderBy('deleted_at', (by) => by.desc().nullsFirst())
    .orderBy('updated_at', 'desc')
    .execute();
  const former = await rowsOf<{ login: string }>(db)`
    select former as login from ${FORMER_LOGINS} where entity_id = ${entityId} group by former order by max(left_at) desc, former`;
  const login = rows[0]?.login ?? null;
  if (login === null && former.length === 0) {
    const events = db.selectFrom('installation_events').where('entity_id', '=', entityId).limit(1);
    if ((await events.execute()).length === 0) return undefined;
  }
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

/** The entity of an installation, also of one before a reinstallation, and itself. */
export async function findTracedInstallation(
  db: Db,
  installationId: number,
): Promise<Subject | undefined> {
  const named = await rowOf<{ entityId: number | null; appId: number | null }>(db)`
    select * from (
      (select 0 as place, entity_id as "entityId", app_id as "appId" from installations where installation_id = ${installationId} limit 1)
      union all
      (select 1, entity_id, app_id from installation_events where installation_id = ${installationId} and entity_id is not null limit 1)
      union all
      (select 2, null, app_id from installation_events where installation_id = ${installationId} and entity_id is null limit 1)
    ) named order by place limit 1`;
  if (named === undefined) return undefined;
  const traced = named.entityId === null ? undefined : await findTracedEntity(db, named.entityId);
  const own = named.appId === null ? [] : [{ appId: named.appId, installationId }];
  if (traced === undefined) return { entity: null, places: own };
  const isKnown = traced.places.some((place) => place.installationId === installationId);
  return { ...traced, places: isKnown ? traced.places : [...traced.places, ...own] };
}

/** The entity of a job, also of one that no pool serves. Undefined: no row names the job. */
const findTracedJob = (db: Db, jobId: number) => rowOf<{ entityId: number | null }>(db)`
    select "entityId" from (
      select 0 as place, entity_id as "entityId" from jobs where job_id = ${jobId}
      union all
      select 1, max(entity_id) from installation_events where job_id = ${jobId} having count(*) > 0
    ) named order by place limit 1`;

export const traceEndpoint = endpoint({
  name: 'trace',
  path: '/api/v1/trace/{of}/{id}',
  summary:
    'Lists what happened to an entity, by its login or id, or to that of an installation or a job, the newest first: deliveries, jobs, workers, operations and actions.',
  input: z.object({
    of: z.enum(['entity', 'installation', 'job']),
    id: z.string().min(1).max(300).describe('An id; of an entity also a login, or a former one'),
    ...traceInput,
  }),
  output: traceAnswer,
  async answer(caller, input) {
    const subject = await find(caller, input);
    const { items, next } = toPage(await readTrace(caller, subject, input), input.limit);
    return { items: items.map(({ item }) => item), next, entity: subject.entity };
  },
});

/** Whose trace it is. Rejects with a Problem if no row names it. */
async function find(
  { db }: Caller,
  { of, id: named }: { of: 'entity' | 'installation' | 'job'; id: string },
): Promise<Subject> {
  if (of === 'entity') {
    const id = ID.test(named) ? Number(named) : await findEntityByLogin(db, named);
    const found = id === undefined ? undefined : await findTracedEntity(db, id);
    if (found !== undefined) return found;
    throw notFound(`No row names the entity ${named}: no App of Paddock was ever seen on it.`);
  }
  const { data: id } = githubId().safeParse(named);
  if (id === undefined)
    throw wrong(`The id of ${of === 'job' ? 'a job' : 'an installation'} is a number.`);
  if (of === 'installation') {
    const found = await findTracedInstallation(db, id);
    if (found !== undefined) return found;
    throw notFound('No row names this installation: no delivery of it ever arrived.');
  }
  const job = await findTracedJob(db, id);
  if (job === undefined)
    throw notFound(
      'No row names this job: no delivery about it arrived, or it ended so long ago that its rows were deleted.',
    );
  const found = job.entityId === null ? undefined : await findTracedEntity(db, job.entityId);
  return found ?? { entity: null, places: [] };
}
