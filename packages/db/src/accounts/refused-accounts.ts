import { type RawBuilder, sql } from 'kysely';

/**
 * For a WHERE: GitHub has refused us at the account, named by a column with its id, within the last `pauseMs` milliseconds. What is left out
 * for that costs one call per pause, and one event row (C9). A change of the account's installations since then ends the pause.
 */
export const isRefused = (entityIdColumn: string, pauseMs: number): RawBuilder<boolean> => sql`exists (
  select from installation_events refusal
  where refusal.entity_id = ${sql.ref(entityIdColumn)} and refusal.event in ('auth_attempt.404', 'auth_attempt.other_error')
    and refusal.received_at > now() - ${pauseMs}::float8 * interval '1 millisecond'
    and refusal.received_at > coalesce((select max(updated_at) from installations where entity_id = refusal.entity_id), '-infinity'))`;
