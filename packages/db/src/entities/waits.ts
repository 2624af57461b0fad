import type { Caller, Wait, Waits } from '@paddock/domain/entities/waits';
import { line } from '@paddock/runtime/events';
import { sql } from 'kysely';
import { prepared } from '../connection/prepared.ts';
import { rowOf, rowsOf } from '../rows.ts';
import type { Db } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';

// Every call asks first whether GitHub has asked its caller to wait. Only time or a person ends a
// wait, never a success.

/** A wait that GitHub has named where none was in force. */
export interface BegunWait extends Wait {
  readonly caller: Caller;
}

/** For a service's table of events. */
export const githubAsksToWait = ({ caller, ms, message }: BegunWait) =>
  line.warn('GitHub asks us to wait: we make no such calls until then', {
    ...caller,
    seconds: Math.ceil(ms / 1_000),
    problem: message,
  });

/** `onBegun` is called once for each new wait, in the process that GitHub named it to. */
export const createWaits = (db: Db, onBegun: (wait: BegunWait) => void): Waits => ({
  left: (caller, resource) => findWait(db, caller, resource),
  async note(caller, named) {
    const wait = { ...named, caller };
    // While PostgreSQL is away no call is made, and GitHub names its wait again after the next one.
    if (await writeWait(db, wait).catch(() => false)) onBegun(wait);
  },
});

const REGISTRATIONS = 'actions_runner_registration';

/** Until when calls of an installation wait, by their budget. An App has only one. */
const budgetWait = (resource: string) =>
  sql.raw<Date | null>(
    resource === REGISTRATIONS
      ? 'case when registrations_left = 0 then registrations_reset_at end'
      : 'core_wait_until',
  );

/** The row of a caller: its table, and a condition. */
const placeOf = (caller: Caller) =>
  'entityId' in caller
    ? {
        table: sql`installations`,
        isIt: sql`entity_id = ${caller.entityId} and app_id = ${caller.appId} and installation_id = ${caller.installationId}`,
      }
    : { table: sql`apps`, isIt: sql`app_id = ${caller.appId}` };

/** The longest wait in force. */
async function findWait(
  db: Db,
  caller: Caller,
  resource: string,
): Promise<Pick<Wait, 'ms' | 'message'> | undefined> {
  const { table, isIt } = placeOf(caller);
  const ofBudget = 'entityId' in caller ? budgetWait(resource) : sql`null::timestamptz`;
  return rowOf<{ ms: number; message: string }>(db)`${prepared}
    select ceil(extract(epoch from greatest(wait_until, ${ofBudget}) - now()) * 1000)::float8 as ms,
      case when wait_until >= coalesce(${ofBudget}, '-infinity') then wait_message else 'The hourly budget is used up.' end as message
    from ${table} where ${isIt} and greatest(wait_until, ${ofBudget}) > now()`;
}

/** The longer wait wins. True: none was in force. */
async function writeWait(db: Db, { caller, message, ms, resource }: BegunWait): Promise<boolean> {
  const { table, isIt } = placeOf(caller);
  const until = sql`now() + ${milliseconds(ms)}`;
  const ofAll = {
    known: sql.raw('wait_until'),
    set: sql`wait_until = ${until}, wait_message = ${message}`,
  };
  if (!('entityId' in caller))
    await db
      .insertInto('apps')
      .values({ app_id: caller.appId })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  const { known, set } =
    !('entityId' in caller) || resource === undefined
      ? ofAll
      : {
          known: budgetWait(resource),
          set:
            resource === REGISTRATIONS
              ? sql`registrations_left = 0, registrations_reset_at = ${until}`
              : sql`core_wait_until = ${until}`,
        };
  const rows = await rowsOf<{ hasBegun: boolean }>(db)`
    with before as (select coalesce(${known} <= now(), true) as has_begun from ${table} where ${isIt})
    update ${table} set ${set} from before where ${isIt} and coalesce(${known} < ${until}, true)
    returning has_begun as "hasBegun"`;
  return rows[0]?.hasBegun ?? false;
}

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
  db: Db,
  { installationId, remaining, resetAt }: RegistrationBudget,
): Promise<void> {
  await db
    .updateTable('installations')
    .set({ registrations_left: remaining, registrations_reset_at: resetAt })
    .where('installation_id', '=', installationId)
    .where(
      sql<boolean>`(${resetAt} > coalesce(registrations_reset_at, '-infinity')
        or (${resetAt} = registrations_reset_at and ${remaining} < registrations_left))`,
    )
    .execute();
}
