import { type RawBuilder, sql } from 'kysely';
import { rowsOf } from './rows.ts';
import type { Database, Db } from './schema/tables.ts';
import { isUnended, LIVE } from './states/states.ts';

// PostgreSQL's clock may be wrong for a time, as after a failover to a host that booted with a wrong
// clock. What is written then with an instant a year ahead would hold everything up for a year: no
// lease expires, no tick comes, nothing is due. An instant later than its own longest length from now
// is therefore void. In a row that says that something was after now, so is each that lies ahead;
// GitHub's own clock, as in `stated_at`, does not count.

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
  /** SQL: the rows to look at, by an index. Rows that have ended stay as they are. */
  readonly rows?: RawBuilder<unknown>;
  /** Columns with another length than their name says; null: GitHub's clock set them. */
  readonly lengths?: Readonly<Record<string, Length | null>>;
  /** SQL: when something was, beside its columns. */
  readonly alsoWas?: RawBuilder<unknown>;
}

/** A name says whether an instant lies ahead: `paused_until`, `lookup_due_at`. */
const lengthOf = (column: string): Length =>
  /_until$|(^|_)(due|extra|expires|reset|request|terminating)_at$/.test(column) ? TO_COME : PAST;

const OF_JOB = { queued_at: null, started_at: null, completed_at: null };

const NEVER = sql`null::timestamptz`;

/** The tables with instants that something waits for, or that decide. */
export const INSTANTS: readonly Instants[] = [
  { table: 'leases', lengths: { expires_at: LEASE } },
  { table: 'schedules' },
  {
    table: 'tasks',
    lengths: { locked_until: LEASE },
    alsoWas: sql`(failures -> -1 ->> 'at')::timestamptz`,
  },
  {
    table: 'operations',
    rows: isTooFarAhead(sql`expires_at`, KEPT),
    lengths: { expires_at: KEPT },
  },
  { table: 'jobs', rows: isUnended('jobs'), lengths: OF_JOB },
  { table: 'jobs', rows: sql`lookup_due_at is not null`, lengths: OF_JOB },
  { table: 'workers', rows: LIVE },
  { table: 'workers', rows: sql`unexplained_until > now() and assigned_at is null` },
  { table: 'workers', rows: sql`completed_at is not null and pod_deleted_at is null` },
  { table: 'demand_keys', lengths: { paused_until: '8 days' } },
  { table: 'apps', lengths: { log_read_to: null, log_cursor_from: null } },
  { table: 'runner_groups' },
  { table: 'installations', lengths: { suspended_at: null } },
  { table: 'repositories' },
  {
    table: 'unresolved_deliveries',
    rows: sql`resolved_at is null`,
    lengths: { first_failed_at: null, last_failed_at: null },
  },
  { table: 'instance' },
  { table: 'pool_runner_versions', lengths: { ends_at: null } },
];

/** Events are many and have no index by time: read only if others were void, and the newest only. */
export const EVENTS: Instants = {
  table: 'installation_events',
  rows: sql`id > (select max(id) - 1000000 from installation_events)`,
};

/** Two clocks that are right differ by fewer seconds. */
export const MOST_SECONDS_AHEAD = 60;

/** How far PostgreSQL's clock is ahead of ours, in seconds; negative: behind. */
export async function findSecondsAhead(db: Db, ours = new Date()): Promise<number> {
  const ahead = sql<number>`extract(epoch from now() - ${ours}::timestamptz)::float8`;
  const { seconds } = await db.selectNoFrom(ahead.as('seconds')).executeTakeFirstOrThrow();
  return seconds;
}

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
export async function mendInstants(db: Db, ours = new Date()): Promise<MendedInstants> {
  const columns = await rowsOf<{ table: string; column: string }>(db)`
    select relname as "table", attname as "column" from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and atttypid = 'timestamptz'::regtype and not attisdropped`;
  const aheadSeconds = await findSecondsAhead(db, ours);
  const columnsOf = Map.groupBy(columns, ({ table }) => table);
  const mended: Record<string, number> = {};
  const mend = async ({ table, rows = sql`true`, lengths = {}, alsoWas }: Instants) => {
    const instants = (columnsOf.get(table) ?? []).flatMap(({ column }) => {
      const length = lengths[column] === undefined ? lengthOf(column) : lengths[column];
      const isOurs = !column.endsWith('stated_at');
      return length === null ? [] : [{ column: sql.ref(column), length, isOurs }];
    });
    const past = instants.filter(({ length, isOurs }) => length === PAST && isOurs);
    const were = [...past.map(({ column }) => column), alsoWas ?? NEVER];
    const isRowVoid = sql`(${sql.join(
      were.map((was) => isTooFarAhead(was)),
      sql` or `,
    )})`;
    const areVoid = instants.map(({ column, length }) =>
      length === PAST
        ? isTooFarAhead(column)
        : sql`(${isTooFarAhead(column, length)} or (${column} > now() and ${isRowVoid}))`,
    );
    const changes = instants.map(
      ({ column }, index) =>
        sql`${column} = case when ${areVoid[index]} then now() else ${column} end`,
    );
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(table)} set ${sql.join(changes)}
      where now() between ${ours}::timestamptz - interval ${sql.lit(SLACK)} and ${ours}::timestamptz + interval ${sql.lit(SLACK)}
        and ${rows} and (${sql.join(areVoid, sql` or `)})`.execute(db);
    if (numAffectedRows > 0) mended[table] = (mended[table] ?? 0) + Number(numAffectedRows);
  };
  for (const instants of INSTANTS) await mend(instants);
  if (Object.keys(mended).length > 0) await mend(EVENTS);
  return { aheadSeconds, mended };
}
