import { type Kysely, sql } from 'kysely';
import type { Database, EntityType } from './tables.ts';

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

/**
 * In how many minutes of the last hour GitHub refused this App at this account, since what is known of the installation last changed:
 * calls that failed side by side count once, so this is the number of attempts in a row.
 */
export async function countFailingMinutes(
  db: Kysely<Database>,
  { entityId, appId }: Pick<AuthFailure, 'entityId' | 'appId'>,
): Promise<number> {
  const { rows } = await sql<{ minutes: number }>`
    select count(distinct date_trunc('minute', e.received_at)) as minutes
    from installation_events e
    where e.entity_id = ${entityId} and e.app_id = ${appId} and e.event in ('auth_attempt.404', 'auth_attempt.other_error')
      and e.received_at > now() - interval '1 hour'
      and e.received_at > coalesce(
        (select i.updated_at from installations i where i.entity_id = ${entityId} and i.app_id = ${appId}), '-infinity')`.execute(db);
  return rows[0]?.minutes ?? 0;
}
