import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from './schema/tables.ts';
import { isUnended, LIVE } from './states/states.ts';

// PostgreSQL's clock may be wrong for a time, as after a failover to a host that booted with a wrong
// clock. What is written then with an instant a year ahead would hold everything up for a year: no
// lease expires, no tick comes, nothing is due. An instant later than its own longest length from now
// is therefore void.

/** How far ahead of now an instant may lie, as PostgreSQL reads it. */
type Length = string;

/** When something was. */
const PAST: Length = '0';
/** When something is due, or may go on. No setting, rule or answer of GitHub's asks for longer. */
const TO_COME: Length = '2 days';
/** The most that the rules `leaseMs` and `taskLeaseMs` allow. */
export const LEASE: Length = '5 minutes';
/** How long a session lasts. */
export const SESSION: Length = '12 hours';
/** The most that `PADDOCK_OPERATIONS_KEEP_…_MS` allow. */
const KEPT: Length = '365 days';

/**
 * Two clocks that are right differ by less, and so do the instants of two transactions at one time.
 */
const SLACK: Length = '1 minute';

/** SQL: this instant is void. */
export const isTooFarAhead = (
  instant: RawBuilder<unknown>,
  longest: Length = PAST,
): RawBuilder<boolean> =>
  sql<boolean>`(${instant} > now() + interval ${sql.lit(longest)} + interval ${sql.lit(SLACK)})`;

interface Instants {
  readonly table: keyof Database;
  readonly longest: Readonly<Record<string, Length>>;
  /** SQL: the rows to look at, by an index. Rows that have ended stay as they are. */
  readonly rows: RawBuilder<unknown>;
}

const instantsOf = <T extends keyof Database>(
  table: T,
  longest: { readonly [C in keyof Database[T] & string]?: Length },
  rows: RawBuilder<unknown> = sql`true`,
): Instants => ({ table, longest: longest as Instants['longest'], rows });

const past = <const C extends string>(...columns: readonly C[]): Record<C, Length> =>
  Object.fromEntries(columns.map((column) => [column, PAST])) as Record<C, Length>;

/** Every instant that something waits for, or that decides, with its longest length. */
export const INSTANTS: readonly Instants[] = [
  instantsOf('leases', { expires_at: LEASE }),
  instantsOf('schedules', {
    ...past('last_tick_at', 'succeeded_at', 'extra_since'),
    extra_at: TO_COME,
    extra_until: TO_COME,
  }),
  instantsOf('tasks', {
    ...past('queued_at', 'started_at'),
    locked_until: LEASE,
    due_at: TO_COME,
  }),
  instantsOf('operations', { expires_at: KEPT }),
  instantsOf(
    'jobs',
    past(
      'created_at',
      'seen_queued_at',
      'looked_up_at',
      'seen_gone_at',
      'recovered_at',
      'unanswered_since',
      'hidden_since',
    ),
    isUnended('jobs'),
  ),
  instantsOf('jobs', { lookup_due_at: TO_COME }, sql`lookup_due_at is not null`),
  instantsOf(
    'workers',
    past(
      'created_at',
      'pod_created_at',
      'registration_started_at',
      'registered_at',
      'registration_gone_at',
      'assigned_at',
      'stopping_at',
      'unschedulable_at',
      'running_at',
      'pod_gone_at',
      'runner_checked_at',
      'online_seen_at',
      'idle_since',
      'offline_since',
      'deregistration_started_at',
      'stop_held_since',
      'stuck_at',
      'terminating_at',
      'runner_ended_at',
    ),
    LIVE,
  ),
  instantsOf(
    'workers',
    { unexplained_until: TO_COME },
    sql`unexplained_until is not null and assigned_at is null`,
  ),
  instantsOf(
    'workers',
    past('completed_at'),
    sql`completed_at is not null and pod_deleted_at is null`,
  ),
  instantsOf('demand_keys', {
    ...past('wait_since', 'updated_at', 'failing_since', 'failed_at'),
    paused_until: '8 days',
  }),
  instantsOf('apps', {
    ...past('refused_since', 'log_read_at'),
    wait_until: TO_COME,
    refused_until: TO_COME,
  }),
  instantsOf('runner_groups', { paused_until: TO_COME, read_at: PAST }),
  instantsOf('installations', {
    ...past('stated_at', 'login_stated_at', 'updated_at', 'listed_at', 'refused_since'),
    wait_until: TO_COME,
    core_wait_until: TO_COME,
    registrations_reset_at: TO_COME,
    refused_until: TO_COME,
  }),
  instantsOf('repositories', {
    ...past(
      'active_at',
      'named_at',
      'noted_at',
      'looked_at',
      'resynced_at',
      'refused_since',
      'unanswered_since',
      'full_at',
    ),
    due_at: TO_COME,
    refused_until: TO_COME,
  }),
  instantsOf(
    'unresolved_deliveries',
    { last_requested_at: PAST, next_request_at: TO_COME },
    sql`resolved_at is null`,
  ),
  instantsOf('pool_runner_versions', past('asked_at')),
];

/** Events are many and have no index by time: read only if others were void, and the newest only. */
const EVENTS = instantsOf(
  'installation_events',
  past('received_at'),
  sql`id > (select max(id) - 1000000 from installation_events)`,
);

export interface MendedInstants {
  /** How far PostgreSQL's clock is ahead of ours, in seconds; negative: behind. */
  readonly aheadSeconds: number;
  /** How many rows of each table had void instants, which are now. */
  readonly mended: Readonly<Record<string, number>>;
}

/**
 * Makes void instants now. Changes nothing while PostgreSQL's clock and ours disagree: if its clock
 * is behind, all right instants look void.
 */
export async function mendInstants(
  db: Kysely<Database>,
  ours = new Date(),
): Promise<MendedInstants> {
  const ahead = sql<number>`extract(epoch from now() - ${ours}::timestamptz)::float8`;
  const { aheadSeconds } = await db
    .selectNoFrom(ahead.as('aheadSeconds'))
    .executeTakeFirstOrThrow();
  const mended: Record<string, number> = {};
  const mend = async (instants: Instants) => {
    const count = await mendTable(db, instants, ours);
    if (count > 0) mended[instants.table] = (mended[instants.table] ?? 0) + count;
  };
  for (const instants of INSTANTS) await mend(instants);
  if (Object.keys(mended).length > 0) await mend(EVENTS);
  return { aheadSeconds, mended };
}

async function mendTable(
  db: Kysely<Database>,
  { table, longest, rows }: Instants,
  ours: Date,
): Promise<number> {
  const columns = Object.entries(longest).map(([name, length]) => {
    const column = sql.ref(name);
    const isVoid = isTooFarAhead(column, length);
    return { isVoid, mended: sql`${column} = case when ${isVoid} then now() else ${column} end` };
  });
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(table)} set ${sql.join(columns.map(({ mended }) => mended))}
    where now() between ${ours}::timestamptz - interval ${sql.lit(SLACK)} and ${ours}::timestamptz + interval ${sql.lit(SLACK)}
      and ${rows} and (${sql.join(
        columns.map(({ isVoid }) => isVoid),
        sql` or `,
      )})`.execute(db);
  return Number(numAffectedRows);
}
