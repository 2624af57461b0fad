import type { Kysely } from 'kysely';
import type { Database, EntityType } from '../schema/tables.ts';

/** An attempt to authenticate at GitHub, or to use what authentication gave us, that GitHub refused (C9). */
export interface AuthFailure {
  /** Method and path of the refused call. */
  operation: string;
  httpStatus: number;
  /** GitHub's words, free of credentials. */
  message: string;
  appId: number;
  installationId: number;
  entityId: number;
  entityType: EntityType;
  entityName: string;
  jobId: number | null;
  deliveryGuid: string | null;
}

/** Appends the event row that later says why an installation stopped working; successes are not recorded. */
export async function recordAuthFailure(db: Kysely<Database>, source: 'scheduler' | 'reconciler', failure: AuthFailure): Promise<void> {
  const notFound = failure.httpStatus === 404;
  const payload = {
    operation: failure.operation,
    http_status: failure.httpStatus,
    message: failure.message,
    app_id: failure.appId,
    installation_id: failure.installationId,
    entity: { id: failure.entityId, name: failure.entityName, type: failure.entityType },
    job_id: failure.jobId,
  };
  await db
    .insertInto('installation_events')
    .values({
      source,
      event: notFound ? 'auth_attempt.404' : 'auth_attempt.other_error',
      outcome: notFound ? 'auth_404' : 'auth_other_error',
      app_id: failure.appId,
      installation_id: failure.installationId,
      entity_type: failure.entityType,
      entity_id: failure.entityId,
      entity_name: failure.entityName,
      job_id: failure.jobId,
      delivery_guid: failure.deliveryGuid,
      payload: JSON.stringify(payload),
    })
    .execute();
}
