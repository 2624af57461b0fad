import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** What an answer of GitHub to the registration of a runner said of the installation's budget. */
export interface RegistrationBudget {
  readonly installationId: number;
  /** How many registrations are left until `resetAt`. */
  readonly remaining: number;
  /** When the budget is full again, by GitHub's clock. */
  readonly resetAt: Date;
}

/**
 * Stores the rest of an installation's budget. Matching reserves no more workers than that until it
 * is full again. Answers may come in any order: the lowest figure of the latest window counts. Call
 * it after GitHub has answered, never inside a longer transaction.
 */
export async function noteRegistrationBudget(
  db: Kysely<Database>,
  budget: RegistrationBudget,
): Promise<void> {
  const { installationId, remaining, resetAt } = budget;
  await sql`
    insert into registration_budgets as b (installation_id, remaining, reset_at)
    values (${installationId}, ${remaining}, ${resetAt})
    on conflict (installation_id) do update
      set remaining = excluded.remaining, reset_at = excluded.reset_at, noted_at = now()
      where excluded.reset_at > b.reset_at or (excluded.reset_at = b.reset_at and excluded.remaining < b.remaining)`.execute(
    db,
  );
}
