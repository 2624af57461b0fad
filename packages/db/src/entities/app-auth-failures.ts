import type { Kysely } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** A call in an App's own name that GitHub refused. */
export interface AppAuthFailure {
  appId: number;
  /** Method and path of the refused call. */
  operation: string;
  httpStatus: number;
  /** GitHub's words, free of credentials. */
  message: string;
}

/**
 * Appends an event that says why the App stopped working. It names no entity, because all entities
 * of the App are affected.
 */
export async function recordAppAuthFailure(
  db: Kysely<Database>,
  failure: AppAuthFailure,
): Promise<void> {
  const notFound = failure.httpStatus === 404;
  await db
    .insertInto('installation_events')
    .values({
      source: 'reconciler',
      event: notFound ? 'auth_attempt.404' : 'auth_attempt.other_error',
      outcome: notFound ? 'auth_404' : 'auth_other_error',
      app_id: failure.appId,
      payload: JSON.stringify({
        operation: failure.operation,
        http_status: failure.httpStatus,
        message: failure.message,
        app_id: failure.appId,
      }),
    })
    .execute();
}
