import { type Kysely, sql } from 'kysely';
import { NAMES_ENTITY } from '../matching/stopped-making.ts';
import { RESYNC_REPOSITORY } from '@paddock/domain/tasks/sweep-names';
import { EVERY_SWEEP, pauseOfSubject } from '../schedules/paused-sweeps.ts';
import type { Database } from '../schema/tables.ts';

/** What a person holds back, until somebody lets it go. */
export interface Stop {
  /** The making of workers, the passes of a sweep, or the resyncs of a repository. */
  readonly what: 'making' | 'sweep' | 'resync';
  /**
   * `environment`, `pool:NAME`, `entity:ID`; a sweep's name, or `all`; `repository:OWNER/NAME`.
   */
  readonly subject: string;
  /** The entity's login. */
  readonly name: string | null;
  readonly by: string;
  readonly at: Date;
  readonly note: string | null;
}

/** A row's place in the list: its instant as PostgreSQL prints it, and which stop it is. */
export type StopPosition = readonly [at: string, what: string, subject: string];

export interface ListedStop extends Stop {
  readonly position: StopPosition;
}

const RESYNC_OF = pauseOfSubject(RESYNC_REPOSITORY, '%');

/** Few rows: people write them one by one. */
const STOPS = sql`(
  select 'making' as what, subject_type || case subject_type when 'environment' then '' else ':' || subject_id end as subject,
    (select login from installations where ${NAMES_ENTITY} and entity_id = subject_id::bigint order by updated_at desc limit 1) as name,
    stopped_by as by, stopped_at as at, note
  from stopped_making where subject_type <> 'entity' or ${NAMES_ENTITY}
  union all
  select case when name like ${RESYNC_OF} then 'resync' else 'sweep' end,
    case when name = ${EVERY_SWEEP} then 'all' when name like ${RESYNC_OF} then 'repository:' || split_part(name, ':', 2) else name end,
    null, paused_by, paused_at, note
  from paused_sweeps
) stops`;

/** All that is held back now, from the first row after `after`, the oldest first. */
export async function listStops(
  db: Kysely<Database>,
  { limit, after }: { limit: number; after?: StopPosition | undefined },
): Promise<ListedStop[]> {
  const isAfter =
    after === undefined
      ? sql`true`
      : sql`(at, what, subject) > (${after[0]}::timestamptz, ${after[1]}, ${after[2]})`;
  const { rows } = await sql<Stop & { place: string }>`
    select *, at::text as place from ${STOPS} where ${isAfter} order by at, what, subject limit ${limit}`.execute(
    db,
  );
  return rows.map(({ place, what, subject, name, by, at, note }) => ({
    what,
    subject,
    name,
    by,
    at,
    note,
    position: [place, what, subject],
  }));
}

/** The stop of this subject; undefined: nothing holds it back by its name. */
export async function findStop(
  db: Kysely<Database>,
  { what, subject }: Pick<Stop, 'what' | 'subject'>,
): Promise<Stop | undefined> {
  const { rows } = await sql<Stop>`
    select * from ${STOPS} where what = ${what} and subject = ${subject}`.execute(db);
  return rows[0];
}
