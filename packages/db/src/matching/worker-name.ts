import { type Expression, type RawBuilder, sql } from 'kysely';

/**
 * A new name for a worker, its registration, its Secret and its pod. A host's name ends at its first dot, so dots of the pool's name become
 * hyphens; labels tell pools apart.
 */
export const newWorkerName = (instanceId: Expression<string>, pool: Expression<string>): RawBuilder<string> =>
  sql`'pdk-' || ${instanceId} || '-' || translate(${pool}, '.', '-') || '-' || left(replace(gen_random_uuid()::text, '-', ''), 12)`;
