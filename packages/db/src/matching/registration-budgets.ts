import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';

/** What an answer of GitHub to the registration of a runner said of the installation's budget. */
export interface RegistrationBudget {
  readonly installationId: number;
  /** How many registrations are left until `resetAt`. */
  readonly remaining: number;
  /** When the budget is full again, by GitHub's clock. */
  readonly resetAt: Date;
  /** The pause that GitHub asked for, in milliseconds, whatever remains. */
  readonly retryAfterMs?: number;
}

/**
 * Writes down what is left of an installation's budget. Matching reserves no more workers than that
 * until it is full again, and none during a pause. Answers may come in any order: within one window
 * the lowest figure stands, a later window replaces an earlier one, and the longer pause wins. Call
 * it after GitHub has answered, never inside a longer transaction.
 */
export async function noteRegistrationBudget(
  db: Kysely<Database>,
  budget: RegistrationBudget,
): Promise<void> {
  const { installationId, remaining, resetAt, retryAfterMs } = budget;
  await sql`
    insert into registration_budgets as b (installation_id, remaining, reset_at, paused_until)
    values (${installationId}, ${remaining}, ${resetAt}, now() + ${milliseconds(retryAfterMs ?? null)})
    on conflict (installation_id) do update
      set remaining = case when excluded.reset_at > b.reset_at then excluded.remaining
          when excluded.reset_at = b.reset_at then least(b.remaining, excluded.remaining) else b.remaining end,
        reset_at = greatest(b.reset_at, excluded.reset_at), paused_until = greatest(b.paused_until, excluded.paused_until), noted_at = now()
      where excluded.reset_at > b.reset_at or (excluded.reset_at = b.reset_at and excluded.remaining < b.remaining)
        or excluded.paused_until > coalesce(b.paused_until, '-infinity')`.execute(db);
}
