import { type Kysely, sql } from 'kysely';
import type { Database, EntityType } from '../schema/tables.ts';

/** The App installed on one entity, as GitHub last stated it. */
export interface ListedInstallation {
  readonly entityId: number;
  readonly login: string;
  readonly entityType: EntityType;
  readonly appId: number;
  readonly installationId: number;
  /** `all` or `selected`; null: GitHub has not said. */
  readonly repositorySelection: string | null;
  readonly suspendedAt: Date | null;
  readonly deletedAt: Date | null;
}

/** Installations in the order of entity and App, from the first one after `after`. */
export const listInstallations = (
  db: Kysely<Database>,
  { limit, after }: { limit: number; after?: readonly [number, number] | undefined },
): Promise<ListedInstallation[]> =>
  db
    .selectFrom('installations')
    .select([
      'entity_id as entityId',
      'login',
      'entity_type as entityType',
      'app_id as appId',
      'installation_id as installationId',
      'repository_selection as repositorySelection',
      'suspended_at as suspendedAt',
      'deleted_at as deletedAt',
    ])
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(entity_id, app_id) > (${after?.[0]}, ${after?.[1]})`),
    )
    .orderBy('entity_id')
    .orderBy('app_id')
    .limit(limit)
    .execute();
