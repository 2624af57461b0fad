import { POOLS_IN_FORCE } from '@paddock/db/pools/pools-documents';
import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { LIVE } from '@paddock/db/states/states';
import { readJobReference } from '@paddock/domain/why/job-reference';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { type Caller, endpoint } from '../endpoint.ts';
import { findRepositoryByName, FORMER_LOGINS, ID } from '../lists/named.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const FULL_NAME = /^[\w.-]+\/[\w.-]+$/;
/** OWNER or OWNER/NAME of an address at GitHub. */
const OF_ADDRESS = /^(?:https?:\/\/[^/]+|[\w-]+(?:\.[\w-]+)+)\/([\w.-]+(?:\/[\w.-]+)?)(?:[/?#]|$)/i;

const named = z.object({
  kind: z.enum([
    'job',
    'run',
    'worker',
    'node',
    'operation',
    'delivery',
    'repository',
    'pool',
    'entity',
    'installation',
    'event',
  ]),
  id: z.string(),
  name: z
    .string()
    .nullable()
    .describe('Of a run, the login of its owner. Null: it has none beside its id'),
});

export type Named = z.output<typeof named>;

export const findEndpoint = endpoint({
  name: 'find',
  path: '/api/v1/find',
  summary: 'Says what has an id, a name or an address at GitHub, the likeliest first.',
  input: z.object({
    text: z
      .string()
      .max(1_000)
      .transform((text) => text.trim())
      .describe(
        'The id of a job, of a run that waits or runs, of an installation, an entity, an operation, a delivery or an event; the name of a worker, a node, a pool, a repository or an entity; or the address of a job, a run or a repository at GitHub',
      ),
  }),
  output: z.object({
    items: z.array(named),
  }),
  answer: async (caller, { text }) => ({ items: await find(caller, text) }),
});

async function find(caller: Caller, text: string): Promise<Named[]> {
  if (ID.test(text)) return findByNumber(caller.db, Number(text));
  if (UUID.test(text)) return findByUuid(caller.db, text.toLowerCase());
  const atGitHub = readJobReference(text);
  // Whether Paddock knows it is for the answer about it to say.
  if (atGitHub !== undefined)
    return 'job' in atGitHub
      ? [{ kind: 'job', id: String(atGitHub.job), name: null }]
      : [{ kind: 'run', id: String(atGitHub.run), name: atGitHub.owner }];
  const [, inAddress = text] = OF_ADDRESS.exec(text) ?? [];
  if (!FULL_NAME.test(inAddress)) return findByName(caller.db, inAddress);
  const repository = await findRepositoryByName(caller.db, inAddress);
  return repository === undefined
    ? []
    : [{ kind: 'repository', id: String(repository), name: inAddress }];
}

/** What has this id of GitHub’s, or is the event with it: each by an index. Of runs, those that wait or run. */
const findByNumber = (db: Db, id: number): Promise<Named[]> =>
  read(
    db,
    sql`
    (select 1 as place, 'job' as kind, ${id}::text as id, job_name as name from jobs where job_id = ${id})
    union all (select 1, 'job', ${id}::text, null from installation_events where job_id = ${id}
      and not exists (select from jobs where job_id = ${id}) limit 1)
    union all (select 2, 'run', ${id}::text, entity_name from jobs where status in ('pending', 'running') and run_id = ${id} limit 1)
    union all (select 2, 'installation', ${id}::text, login from installations where installation_id = ${id} limit 1)
    union all (select 2, 'installation', ${id}::text, null from installation_events where installation_id = ${id}
      and not exists (select from installations where installation_id = ${id}) limit 1)
    union all (select 3, 'entity', ${id}::text, login from installations where entity_id = ${id}
      order by deleted_at desc nulls first, updated_at desc limit 1)
    union all (select 4, 'event', ${id}::text, event from installation_events where id = ${id})`,
  );

/** What has this UUID: an operation, or a delivery that was stored or is missing. */
const findByUuid = (db: Db, uuid: string): Promise<Named[]> =>
  read(
    db,
    sql`
    (select 1 as place, 'operation' as kind, ${uuid} as id, kind as name from tasks where id = ${uuid}::uuid)
    union all (select 1, 'operation', ${uuid}, kind from operations where id = ${uuid}::uuid)
    union all (select 2, 'delivery', ${uuid}, event from installation_events where delivery_guid = ${uuid} order by id limit 1)
    union all (select 3, 'delivery', ${uuid}, concat_ws('.', event, action) from unresolved_deliveries
      where app_id in (select distinct app_id from installations) and guid = ${uuid}
      and not exists (select from installation_events where delivery_guid = ${uuid}) limit 1)`,
  );

/** What has this name, or begins with it: a worker, a pool, a node of the last day's workers, or an entity, also by a former login. */
const findByName = (db: Db, name: string): Promise<Named[]> =>
  read(
    db,
    sql`
    (select 1 as place, 'worker' as kind, pod_name as id, null as name from workers where pod_name = lower(${name}))
    union all (select 2, 'pool', p ->> 'name', null from ${POOLS_IN_FORCE} where lower(p ->> 'name') = lower(${name}))
    union all (select 3, 'entity', entity_id::text, login from installations where lower(login) = lower(${name})
      order by deleted_at desc nulls first, updated_at desc limit 1)
    union all (select 3, 'entity', entity_id::text, former from ${FORMER_LOGINS} where lower(former) = lower(${name})
      and not exists (select from installations where lower(login) = lower(${name})) order by left_at desc limit 1)
    union all (select 4, 'pool', p ->> 'name', null from ${POOLS_IN_FORCE} where ${beginsWith(sql`p ->> 'name'`, name)} limit ${MOST_BEGUN})
    union all (select 5, 'entity', entity_id::text, max(login) from installations where ${beginsWith(sql`login`, name)} group by entity_id limit ${MOST_BEGUN})
    union all (select 6, 'worker', pod_name, null from workers where ${LIVE} and ${beginsWith(sql`pod_name`, name)} order by pod_name limit ${MOST_BEGUN})
    union all (select 7, 'node', k8s_node, null from (
        select k8s_node from workers where ${LIVE}
        union all select k8s_node from workers where created_at > now() - interval '1 day') nodes
      where lower(k8s_node) = lower(${name}) or ${beginsWith(sql`k8s_node`, name)} group by k8s_node order by k8s_node limit ${MOST_BEGUN})`,
  );

const MOST_BEGUN = 5;

/** SQL: whether a name begins so, and goes on. */
const beginsWith = (column: RawBuilder<unknown>, name: string) =>
  sql`${name.length > 1} and starts_with(lower(${column}), lower(${name})) and lower(${column}) <> lower(${name})`;

const read = (db: Db, found: RawBuilder<unknown>) =>
  rowsOf<Named>(db)`select kind, id, name from (${found}) found order by place`;
