import { type Kysely, sql } from 'kysely';
import { prepared } from '../connection/prepared.ts';
import type { Database } from '../schema/tables.ts';
import { type BreakerSubject, heldBy } from './breaker-subjects.ts';
import { closeBreakers } from './close-breakers.ts';
import { RATE_LIMITED } from './failure-classes.ts';

//   closed ──three failures of one class──► paused ──pause over──► one trial ──success──► closed
//                                             ▲                       │
//                                             └──── failure, twice as long ◄┘
//
//   GitHub's and the cluster's are probed while they are open (probes.ts): the first answer after a silence ends the pause.
//
// An entity may have caused a worker's failure. Such a failure counts at the pool, whose breaker
// opens once two entities have failed, and at the entity in that pool. So an entity whose workers
// fail pauses only itself there; others' successes neither free nor hold it. While it is paused,
// its failures open no breaker of the pool and prolong none.

export interface Passage {
  /**
   * How long to wait before asking again, in milliseconds; 0: go on, as the one trial if a breaker
   * was open.
   */
  readonly waitMs: number;
  /** The breaker to wait for, as a task names it; absent where none holds this back. */
  readonly heldBy?: string;
  /** The message of the failures. */
  readonly message: string;
  /** Something failed there lately, so the caller notes a success. */
  readonly isWatched: boolean;
  /** This is the trial of open breakers; pass it to `giveBackTrial`. */
  readonly trial?: string;
}

/** The answer of `passBreakers` where nothing has failed. */
export const UNWATCHED: Passage = { waitMs: 0, message: '', isWatched: false };

/** After this time another worker may try: the process of the trial may have died. */
const TRIAL_S = 120;
/**
 * How long to wait while another worker is the trial. Its success ends the wait; after its failure
 * the next call sees the new pause.
 */
const TRIED_MS = 5_000;

interface Row extends BreakerSubject {
  message: string;
  isOpen: boolean;
  isOurs: boolean;
  trial: string | null;
  pausedMs: number;
}

/**
 * Asks whether work that these breakers guard may begin now. After a pause, one of all callers may
 * go on: the trial.
 */
export async function passBreakers(
  db: Kysely<Database>,
  subjects: readonly BreakerSubject[],
): Promise<Passage> {
  const { rows } = await sql<Row>`${prepared}
    with subjects as (select * from jsonb_to_recordset(${JSON.stringify(subjects)}::jsonb) as s(type text, id text)),
    watched as materialized (
      select b.* from subjects s join breakers b on b.subject_type = s.type and b.subject_id = s.id
      where b.failure_class <> ${RATE_LIMITED}::text
      order by b.subject_type, b.subject_id, b.failure_class for update of b
    ),
    taken as (
      update breakers b set trial_until = now() + ${TRIAL_S} * interval '1 second'
      from watched w
      where (b.subject_type, b.subject_id, b.failure_class) = (w.subject_type, w.subject_id, w.failure_class) and b.pauses > 0
        and not exists (select from watched where pauses > 0 and (paused_until > now() or trial_until > now()))
      returning b.subject_type, b.subject_id, b.failure_class, b.trial_until
    )
    select w.subject_type as type, w.subject_id as id, w.message, w.pauses > 0 as "isOpen",
      t.trial_until is not null as "isOurs", t.trial_until::text as trial,
      greatest(0, coalesce(extract(epoch from w.paused_until - now()) * 1000, 0))::float8 as "pausedMs"
    from watched w left join taken t using (subject_type, subject_id, failure_class)`.execute(db);
  const holding = rows.filter(({ isOpen, isOurs }) => isOpen && !isOurs);
  const longest = holding.toSorted((a, b) => b.pausedMs - a.pausedMs)[0];
  if (longest === undefined) {
    const trial = rows.find(({ isOurs }) => isOurs)?.trial ?? undefined;
    return {
      waitMs: 0,
      message: '',
      isWatched: rows.length > 0,
      ...(trial === undefined ? {} : { trial }),
    };
  }
  const waitMs = longest.pausedMs > 0 ? Math.ceil(longest.pausedMs) : TRIED_MS;
  return { waitMs, heldBy: heldBy(longest), message: longest.message, isWatched: true };
}

/**
 * Gives back a trial that ended without a result, or tried only a part. The next caller may try at
 * once.
 */
export async function giveBackTrial(
  db: Kysely<Database>,
  subjects: readonly BreakerSubject[],
  trial: string,
): Promise<void> {
  await sql`
    update breakers b set trial_until = null
    where (subject_type, subject_id, failure_class) in (
      select l.subject_type, l.subject_id, l.failure_class
      from jsonb_to_recordset(${JSON.stringify(subjects)}::jsonb) as s(type text, id text)
      join breakers l on l.subject_type = s.type and l.subject_id = s.id
      where l.trial_until = ${trial}::timestamptz
      order by l.subject_type, l.subject_id, l.failure_class for update of l) and b.trial_until = ${trial}::timestamptz`.execute(
    db,
  );
}

/**
 * Closes breakers because the work that they guard has succeeded, for all classes of failures or
 * some. Wakes the matcher.
 */
export async function noteSuccess(
  db: Kysely<Database>,
  subjects: readonly BreakerSubject[],
  { only, except }: { only?: string; except?: string } = {},
): Promise<void> {
  await closeBreakers(sql`
      from breakers b join jsonb_to_recordset(${JSON.stringify(subjects)}::jsonb) as s(type text, id text)
        on b.subject_type = s.type and b.subject_id = s.id
      where b.failure_class = coalesce(${only ?? null}, b.failure_class) and b.failure_class is distinct from ${except ?? null}::text
        and b.failure_class <> ${RATE_LIMITED}::text`).execute(db);
}
