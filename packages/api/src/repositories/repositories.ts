import type { Db } from '@paddock/db/schema/tables';
import { DISCOVER_JOBS } from '@paddock/domain/tasks/sweep-names';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { note } from '../actions/list-actions.ts';
import { endpoint } from '../endpoint.ts';
import { ended, operation, unfinished } from '../operations/operation.ts';
import { startSweep } from '../operations/start-operation.ts';
import { notFound, refused } from '../problem.ts';
import { allOf, has, isoText } from '@paddock/db/newest-first';
import { rowsOf } from '@paddock/db/rows';
import { eventRow, listRepositoryEvents } from '../events/events.ts';
import { instant, instantText } from '../lists/dates.ts';
import { entity, entityIdOf, findRepositoryByName } from '../lists/named.ts';
import { pageInput, pageOf, type Placed, toPage } from '../lists/page.ts';
import { readSwitch, switchState } from '../switches/switches.ts';

const name = z
  .string()
  .max(100)
  .regex(/^[\w.-]+$/, 'must be a name at GitHub')
  .toLowerCase();

/** The inputs of a path that names a repository, in small letters: GitHub ignores the case. */
const repositoryPath = { owner: name, repository: name };

const fullNameOf = ({ owner, repository }: { owner: string; repository: string }): string =>
  `${owner}/${repository}`;

export const resyncRepositoryEndpoint = endpoint({
  name: 'resyncRepository',
  method: 'POST',
  path: '/api/v1/repositories/{owner}/{repository}/resync',
  summary: 'Compares all unfinished runs of a repository at GitHub with our jobs.',
  status: 202,
  input: z.object({ ...repositoryPath, note }),
  output: operation,
  answer: (caller, path, request) =>
    startSweep(caller, request, async (trx) => {
      const owner = await findOwner(trx, path.owner);
      if (owner === undefined)
        throw notFound(`None of our Apps was ever installed on ${path.owner}.`);
      if (!owner.isUsable)
        throw refused(`The installation on ${path.owner} is suspended or was removed.`);
      return { kind: DISCOVER_JOBS, subject: { type: 'repository', id: fullNameOf(path) } };
    }),
});

/** Whether any App may be used on the entity with this login now. Undefined: none ever was. */
async function findOwner(db: Db, login: string): Promise<{ isUsable: boolean } | undefined> {
  const rows = await db
    .selectFrom('installations')
    .select(['suspended_at', 'deleted_at'])
    .where(sql<boolean>`lower(login) = lower(${login})`)
    .execute();
  const isUsable = rows.some((row) => row.suspended_at === null && row.deleted_at === null);
  return rows.length === 0 ? undefined : { isUsable };
}

const repositoryRow = z.object({
  id: z.int(),
  fullName: z.string(),
  entity: z.object({ id: z.int(), login: z.string().nullable() }),
  enabled: z.boolean().describe('Discovery and resyncs look for its jobs'),
  disabled: z.string().nullable().describe('Why they do not, in words'),
  activeAt: instant.nullable().describe('Its last job, run or push'),
  lookedAt: instant.nullable().describe('When discovery last read its runs'),
  unansweredSince: instant.nullable().describe('Since when GitHub has not answered discovery'),
  lastSync: z
    .object({
      status: operation.shape.status,
      at: instantText.describe('When it ended; of one that has not, when it was asked for'),
      operation: z.uuid().nullable().describe('Null: its row has expired'),
      why: z.string().nullable().describe('Why it failed, or what it waits for'),
    })
    .nullable()
    .describe('The resync that was asked for last, however it stands; null: none is known'),
});

type RepositoryRow = z.output<typeof repositoryRow>;

/** SQL: why nobody looks for the jobs of repository `r`; null: somebody does. */
const DISABLED = sql<string | null>`case
  when not exists (select from installations i where i.entity_id = r.entity_id and deleted_at is null) then 'the App is not installed on its owner'
  when not exists (select from installations i where i.entity_id = r.entity_id and deleted_at is null and suspended_at is null)
    then 'its installation is suspended'
  when r.refused_until > now() then 'GitHub refuses the App' || coalesce(': ' || r.refused_message, '')
  else (
    select switched_by || ' forbids ' || case subject_id when '' then 'all sweeps' when ${DISCOVER_JOBS} then 'discovery' else 'it' end || coalesce(': ' || note, '')
    from switches where subject_type = 'sweep' and subject_id in ('', ${DISCOVER_JOBS}, ${DISCOVER_JOBS} || ':' || lower(r.full_name))
    order by since limit 1) end`;

/** SQL: the resync of repository `r` that was asked for last. A good one outlives its operation. */
const OF_RESYNC = sql`kind = ${DISCOVER_JOBS} and subject_type = 'repository' and subject_id = lower(r.full_name)`;
const LAST_SYNC = sql<RepositoryRow['lastSync']>`(
  select json_build_object('status', status, 'at', ${isoText('at')}, 'operation', id, 'why', why)
  from (
    select status, coalesce("finishedAt", "queuedAt") as at, id, coalesce("waitsFor", failure ->> 'message') as why, "finishedAt" is null as is_open
    from (${unfinished()} where ${OF_RESYNC}
      union all (${ended()} where ${OF_RESYNC} and expires_at > now() order by finished_at desc limit 1)) asked
    union all select 'OK', r.resynced_at, null, null, false where r.resynced_at is not null
  ) syncs order by is_open desc, status = 'RUNNING' desc, at desc, id limit 1)`;

/** As the API has them: the rows of `found`, a SELECT from `repositories`. */
const readRepositories = (db: Db, found: RawBuilder<unknown>) => rowsOf<Placed<RepositoryRow>>(db)`
    select r.repo_id as id, r.full_name as "fullName", ${DISABLED} is null as enabled, ${DISABLED} as disabled,
      json_build_object('id', r.entity_id, 'login', (
        select login from installations i where i.entity_id = r.entity_id order by deleted_at desc nulls first, updated_at desc limit 1)) as entity,
      r.active_at as "activeAt", r.looked_at as "lookedAt", r.unanswered_since as "unansweredSince", ${LAST_SYNC} as "lastSync",
      json_build_array(r.entity_id, lower(r.full_name), r.repo_id) as position
    from (${found}) r order by r.entity_id, lower(r.full_name), r.repo_id`;

const COLUMNS = sql.raw(
  'repo_id, entity_id, full_name, active_at, looked_at, unanswered_since, resynced_at, refused_until, refused_message',
);

export const listRepositoriesEndpoint = endpoint({
  name: 'listRepositories',
  path: '/api/v1/repositories',
  summary:
    'Lists the repositories that Paddock has heard of, by owner and name: whether it looks for their jobs, and the last resync.',
  input: z.object({ entity, ...pageInput(z.tuple([z.int(), z.string().max(300), z.int()])) }),
  output: pageOf(repositoryRow),
  async answer(caller, { entity: of, limit, after }) {
    const isMeant = allOf(
      sql`full_name is not null`,
      has('entity_id', await entityIdOf(caller, of)),
      after &&
        sql`(entity_id, lower(full_name), repo_id) > (${after[0]}, ${after[1]}, ${after[2]})`,
    );
    const found = sql`select ${COLUMNS} from repositories where ${isMeant} order by entity_id, lower(full_name), repo_id limit ${limit}`;
    return toPage(await readRepositories(caller.db, found), limit);
  },
});

const MOST_DELIVERIES = 10;

export const findRepositoryEndpoint = endpoint({
  name: 'findRepository',
  path: '/api/v1/repositories/{owner}/{repository}',
  summary:
    'Says of a repository whether Paddock looks for its jobs, when it was last resynced and how that went, and what was delivered.',
  input: z.object(repositoryPath),
  output: repositoryRow.extend({
    resyncs: switchState.describe('Whether a person forbids its resyncs'),
    deliveries: z
      .array(eventRow)
      .describe(
        `Its last ${MOST_DELIVERIES} deliveries among the newest of its owner, the newest first`,
      ),
  }),
  async answer({ db }, path) {
    const fullName = fullNameOf(path);
    const found = await findRepository(db, fullName);
    if (found === undefined)
      throw notFound(
        `Paddock knows no repository ${fullName}: no delivery named it, and discovery has not found it. A resync asks GitHub about it.`,
      );
    return {
      ...found,
      resyncs: await readSwitch(db, `${DISCOVER_JOBS}:${fullName}`),
      deliveries: await listRepositoryEvents(db, found.id, found.entity.id, MOST_DELIVERIES),
    };
  },
});

/** The repository with this name, as discovery or its newest unended job knows it. */
async function findRepository(db: Db, fullName: string): Promise<RepositoryRow | undefined> {
  const id = await findRepositoryByName(db, fullName);
  if (id === undefined) return undefined;
  const [found] = await readRepositories(
    db,
    sql`
    (select ${COLUMNS} from repositories where repo_id = ${id} and full_name is not null)
    union all
    (select repo_id, entity_id, repo_full_name, created_at, null, null, null, null, null from jobs
      where repo_id = ${id} and status in ('pending', 'running')
        and not exists (select from repositories where repo_id = ${id} and full_name is not null)
      order by created_at desc limit 1)`,
  );
  return found;
}
