import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { instant } from '../lists/dates.ts';
import { after, limit, pageOf, rowsToRead, toPageBy } from '../lists/page.ts';

/** An installation as GitHub last stated it. */
export const installation = z.object({
  entity: z.object({ id: z.int(), login: z.string(), type: z.enum(['Organization', 'User']) }),
  app: z.int(),
  id: z.int(),
  state: z.enum(['installed', 'suspended', 'deleted']),
  since: instant.nullable().describe('Since when it is suspended or deleted'),
  repositories: z.string().nullable().describe('`all` or `selected`; null: GitHub has not said'),
});

type Installation = z.output<typeof installation>;

const COLUMNS = [
  sql<
    Installation['entity']
  >`json_build_object('id', entity_id, 'login', login, 'type', entity_type)`.as('entity'),
  'app_id as app',
  'installation_id as id',
  sql<
    Installation['state']
  >`case when deleted_at is not null then 'deleted' when suspended_at is not null then 'suspended' else 'installed' end`.as(
    'state',
  ),
  sql<Date | null>`coalesce(deleted_at, suspended_at)`.as('since'),
  'repository_selection as repositories',
] as const;

export const listInstallationsEndpoint = endpoint({
  name: 'listInstallations',
  method: 'GET',
  path: '/api/v1/installations',
  summary: 'Lists the installations of the Apps, by entity and App.',
  access: 'read',
  status: 200,
  input: z.object({ limit, after: after(z.tuple([z.int(), z.int()])) }),
  output: pageOf(installation),
  async answer({ db }, input) {
    const rows = await listInstallations(db, { ...input, limit: rowsToRead(input.limit) });
    return toPageBy(rows, input.limit, ({ entity, app }) => [entity.id, app]);
  },
});

/** Installations in the order of entity and App, from the first one after `after`. */
export const listInstallations = (
  db: Kysely<Database>,
  { limit: most, after: last }: { limit: number; after?: readonly [number, number] | undefined },
): Promise<Installation[]> =>
  db
    .selectFrom('installations')
    .select(COLUMNS)
    .$if(last !== undefined, (query) =>
      query.where(sql<boolean>`(entity_id, app_id) > (${last?.[0]}, ${last?.[1]})`),
    )
    .orderBy('entity_id')
    .orderBy('app_id')
    .limit(most)
    .execute();

/** Undefined: no App is installed under this id, or another installation took its place. */
export const findInstallation = (
  db: Kysely<Database>,
  id: number,
): Promise<Installation | undefined> =>
  db
    .selectFrom('installations')
    .select(COLUMNS)
    .where('installation_id', '=', id)
    .orderBy('updated_at', 'desc')
    .limit(1)
    .executeTakeFirst();
