import { type RawBuilder, sql } from 'kysely';

/**
 * Deletes the breakers that a FROM and its WHERE find as `b`. Locks them first, in the order in
 * which all statements lock breakers. Triggers wake the matcher and the tasks that they held.
 */
export const closeBreakers = (found: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    with closed as materialized (
      select b.subject_type, b.subject_id, b.failure_class ${found}
      order by b.subject_type, b.subject_id, b.failure_class for update of b
    )
    delete from breakers b using closed c
    where (b.subject_type, b.subject_id, b.failure_class) = (c.subject_type, c.subject_id, c.failure_class)`;
