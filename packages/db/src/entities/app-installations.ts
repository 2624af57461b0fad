import type { KnownInstallation } from '@paddock/domain/entities/compare-installations';
import { type Kysely, sql, type Transaction } from 'kysely';
import { appendEvents } from '../events/installation-events.ts';
import { pinLogins } from './login-pins.ts';
import { type InstallationToStore, storeInstallations } from './installations.ts';
import type { Database, EntityType } from '../schema/tables.ts';

export interface AppInstallation extends KnownInstallation {
  readonly entityType: EntityType;
}

/** Our rows of an App's installations, deleted ones included. */
export async function findAppInstallations(
  db: Kysely<Database>,
  appId: number,
): Promise<AppInstallation[]> {
  const { rows } = await sql<AppInstallation>`
    select entity_id as "entityId", entity_type as "entityType", installation_id as "installationId", login, repository_selection as selection,
      suspended_at is not null as "isSuspended", deleted_at is not null as "isDeleted"
    from installations where app_id = ${appId}`.execute(db);
  return rows;
}

/**
 * Stores GitHub's answers about installations, each with an event. They count from the moment of
 * asking, so a delivery of a later change wins.
 */
export async function repairInstallations(
  trx: Transaction<Database>,
  statements: readonly InstallationToStore[],
): Promise<void> {
  if (statements.length === 0) return;
  const refused = await pinLogins(
    trx,
    statements.flatMap(({ entity, isDeleted }) => (isDeleted ? [] : [entity])),
  );
  await storeInstallations(trx, statements);
  await appendEvents(
    trx,
    statements.map((statement) => ({
      source: 'reconciler',
      event: statement.isDeleted ? 'discovered.uninstalled' : 'discovered.installed',
      outcome: refused.has(statement.entity.id) ? 'refused_entity' : 'ok',
      appId: statement.appId,
      installationId: statement.installationId,
      entity: statement.entity,
      repoId: null,
      jobId: null,
      deliveryGuid: null,
      payload: JSON.stringify(statement),
      payloadRepaired: false,
    })),
  );
}
