import { type Kysely, sql } from 'kysely';
import type { EntityToAsk } from '../entities/installation-today.ts';
import type { Database } from '../schema/tables.ts';

/** The App installed on one entity, as GitHub last stated it. */
export interface ListedInstallation extends EntityToAsk {
  /** `all` or `selected`; null: GitHub has not said. */
  readonly repositorySelection: string | null;
  readonly suspendedAt: Date | null;
  readonly deletedAt: Date | null;
}

const COLUMNS = [
  'entity_id as entityId',
  'login',
  'entity_type as entityType',
  'app_id as appId',
  'installation_id as installationId',
  'repository_selection as repositorySelection',
  'suspended_at as suspendedAt',
  'deleted_at as deletedAt',
] as const;

/** Installations in the order of entity and App, from the first one after `after`. */
export const listInstallations = (
  db: Kysely<Database>,
  { limit, after }: { limit: number; after?: readonly [number, number] | undefined },
): Promise<ListedInstallation[]> =>
  db
    .selectFrom('installations')
    .select(COLUMNS)
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(entity_id, app_id) > (${after?.[0]}, ${after?.[1]})`),
    )
    .orderBy('entity_id')
    .orderBy('app_id')
    .limit(limit)
    .execute();

/** Undefined: no App is installed under this id, or another installation took its place. */
export const findInstallation = (
  db: Kysely<Database>,
  installationId: number,
): Promise<ListedInstallation | undefined> =>
  db
    .selectFrom('installations')
    .select(COLUMNS)
    .where('installation_id', '=', installationId)
    .orderBy('updated_at', 'desc')
    .limit(1)
    .executeTakeFirst();

/** A stored delivery about an installation itself. */
export interface InstallationEvent {
  /** Digits. */
  readonly id: string;
  /** As `installation.created`. */
  readonly event: string;
  readonly at: Date;
}

/** The events that GitHub told of an installation. A replay under another GUID says nothing. */
export const SAID_BY_GITHUB = sql<boolean>`event like 'installation%' and source = 'webhook' and outcome <> 'repeated_body'`;

/** The newest events about an installation itself, the newest first. */
export async function findInstallationEvents(
  db: Kysely<Database>,
  installationId: number,
  most: number,
): Promise<InstallationEvent[]> {
  const { rows } = await sql<InstallationEvent>`
    select id::text as id, event, received_at as at from installation_events
    where installation_id = ${installationId} and ${SAID_BY_GITHUB}
    order by received_at desc, installation_events.id desc limit ${most}`.execute(db);
  return rows;
}
