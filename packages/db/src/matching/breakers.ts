import { accountInPool } from '@paddock/domain/matching/matching-rules';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { prepared } from '../connection/prepared.ts';
import type { Database } from '../schema/tables.ts';

//   closed ──three failures of one class──► paused ──pause over──► one trial ──success──► closed
//                                             ▲                       │
//                                             └──── failure, twice as long ◄┘
//
//   GitHub's and the cluster's are probed while they are open (probes.ts): the first answer after a silence ends the pause.
//
// A worker's failure that its account may have caused counts twice: at the pool, whose breaker opens on failures of two accounts at least, and
// at the account in that pool. So an account whose workers fail pauses itself there, and what succeeds for others neither frees nor holds it. While
// it is held back there, its failures count against itself only: they open no breaker of the pool, and prolong none.

/** What is at fault, so that what is not goes on: a pool's template, an App, an account's installation, a repository, GitHub itself, the cluster. */
export interface BreakerSubject {
  readonly type: 'pool' | 'app' | 'installation' | 'repository' | 'github' | 'cluster';
  /** The pool's name, or POOL@ACCOUNT for one account in it; the App's, the account's or the repository's id; the cluster's name; empty for GitHub. */
  readonly id: string;
}

export const poolBreaker = (name: string): BreakerSubject => ({ type: 'pool', id: name });
/** Of one account in a pool. */
export const accountBreaker = (place: { pool: string; entityId: number }): BreakerSubject => ({ type: 'pool', id: accountInPool(place) });
export const appBreaker = (appId: number): BreakerSubject => ({ type: 'app', id: String(appId) });
export const installationBreaker = (entityId: number): BreakerSubject => ({ type: 'installation', id: String(entityId) });
export const repositoryBreaker = (repoId: number): BreakerSubject => ({ type: 'repository', id: String(repoId) });
export const githubBreaker: BreakerSubject = { type: 'github', id: '' };
export const clusterBreaker = (name: string): BreakerSubject => ({ type: 'cluster', id: name });
/** Of the one cluster there is, as the column `workers.cluster` names it. */
export const ownCluster = { type: 'cluster', id: 'default' } as const;
/** Failures of a cluster that did not answer. */
export const AWAY = 'away';

/** What a task that waits for a breaker of this subject is held by. */
export const heldBy = ({ type, id }: BreakerSubject): string => `${type}:${id}`;

interface RegistrationPlace {
  readonly appId: number;
  readonly entityId: number;
  readonly scopeRepoId: number;
}

/** What a registration at GitHub can fail for; where it succeeds, all of it works. */
export const registrationBreakers = ({ appId, entityId, scopeRepoId }: RegistrationPlace): BreakerSubject[] => [
  appBreaker(appId),
  installationBreaker(entityId),
  ...(scopeRepoId === 0 ? [] : [repositoryBreaker(scopeRepoId)]),
  githubBreaker,
];

export interface Failure {
  readonly subject: BreakerSubject;
  /** Failures of one class add up; a short word. */
  readonly failureClass: string;
  /** For people. */
  readonly message: string;
}

export interface BreakerRules {
  /** So many failures of one class without a success between them open a breaker. */
  readonly failures: number;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** How long an account or a repository is left alone after GitHub refused us there. */
  readonly refusedPauseMs: number;
}

/** What an open breaker keeps back. */
export interface Hold {
  /** How long, in milliseconds, unless it lets go sooner. */
  readonly waitMs: number;
  /** The breaker, as a task that waits for it names it: TYPE:ID of its subject. */
  readonly heldBy: string;
}

/** What it takes to count failures. */
export interface Noting {
  readonly db: Kysely<Database>;
  readonly breakerRules: BreakerRules;
}

/**
 * Counts a failure. The last of those that the rules allow opens the breaker for the first pause; a trial that fails opens it again, for
 * twice as long each time and the longest pause at most (C11). Where a probe is answered and the trial failed nevertheless, for an eighth
 * of the time since it opened: then people wait an eighth longer than the outage at most. Failures of what was begun before a pause do not
 * prolong it. Returns the hold of the open breaker; undefined: it is not open.
 */
export async function noteFailure({ db, breakerRules }: Noting, { subject, failureClass, message }: Failure): Promise<Hold | undefined> {
  const charged = sql`select ${subject.type}::text as type, ${subject.id}::text as id, null::bigint as entity_id, null::text as worker`;
  const { rows } = await sql<{ waitMs: number }>`
    with charged as materialized (${charged}), noted as (${noting(breakerRules, failureClass, message)}),
    -- That of the snapshot, where the failure is not counted because the breaker was paused.
    pause as (
      select paused_until from noted
      union all
      select paused_until from breakers b
      where (b.subject_type, b.subject_id, b.failure_class) = (${subject.type}, ${subject.id}, ${failureClass}) and not exists (select from noted)
    )
    select greatest(0, ceil(extract(epoch from paused_until - now()) * 1000))::float8 as "waitMs" from pause where paused_until is not null`.execute(
    db,
  );
  const [pause] = rows;
  return pause && { waitMs: pause.waitMs, heldBy: heldBy(subject) };
}

/** Keeps rows short: a failure that a hundred others have followed is not taken back. */
const MOST_COUNTED = 100;

const counted = (column: string) =>
  sql.raw(`(b.${column} || excluded.${column})[greatest(1, cardinality(b.${column}) - ${MOST_COUNTED - 2}):]`);

/**
 * Counts one failure against each subject in `charged`: its type and id, and the account and the worker that may have caused it, or null where
 * it is surely the subject's own.
 */
export function noting(
  { failures, firstPauseMs, longestPauseMs }: BreakerRules,
  failureClass: string,
  message: string,
): RawBuilder<unknown> {
  // Only what happens to several accounts within a while speaks of the pool: not one failure of each in a month.
  const isStale = sql`(b.pauses = 0 and b.entities is not null and b.subject_id not like '%@%' and b.failed_at < now() - interval '1 hour')`;
  const before = sql`case when ${isStale} then 0 else b.failures end`;
  // The account's own row counts what one account fails; the pool's row waits for a second account.
  const isShared = sql`(b.subject_id like '%@%' or coalesce(not excluded.entities @> b.entities, true))`;
  const opens = sql`(b.pauses > 0 or ${before} + 1 >= ${failures}::integer and ${isShared})`;
  // It had answered, and no trial came for a while: this failure begins another outage.
  const openedAt = sql`case when b.answered_at is not null and b.paused_until < now() - interval '1 minute' then now() else coalesce(b.opened_at, now()) end`;
  const pauseMs = sql`case when b.answered_at is null then ${firstPauseMs}::float8 * 2 ^ least(b.pauses, 30)
    else greatest(${SHORTEST_PAUSE_MS}::float8, extract(epoch from now() - ${openedAt}) * 1000 / 8) end`;
  return sql`
    insert into breakers as b (subject_type, subject_id, failure_class, failures, message, entities, workers)
    select type, id, ${failureClass}::text, 1, ${message}::text, 
      case when entity_id is not null then array[entity_id] end, case when worker is not null then array[worker] end
    from charged order by type, id
    on conflict (subject_type, subject_id, failure_class) do update
      set failures = case when ${opens} then 0 else ${before} + 1 end,
        pauses = b.pauses + ${opens}::integer,
        opened_at = case when ${opens} then ${openedAt} end,
        paused_until = case when ${opens}
          then now() + least(${longestPauseMs}::float8, ${pauseMs}) * interval '1 millisecond' else b.paused_until end,
        trial_until = null, message = excluded.message, failed_at = now(),
        entities = case when ${isStale} then excluded.entities else ${counted('entities')} end,
        workers = case when ${isStale} then excluded.workers else ${counted('workers')} end
      where b.paused_until is null or b.paused_until <= now()
    returning paused_until`;
}

/** While a probe is answered and a trial is not: a registration costs five points of GitHub's 900 in a minute. */
const SHORTEST_PAUSE_MS = 1_000;

/** Opens a breaker for as long as somebody asked to be left alone; afterwards one trial shows whether the others may go on. */
export async function holdBack(db: Kysely<Database>, { subject, failureClass, message }: Failure, pauseMs: number): Promise<void> {
  const until = sql`now() + ${pauseMs}::float8 * interval '1 millisecond'`;
  await sql`
    insert into breakers as b (subject_type, subject_id, failure_class, failures, pauses, paused_until, message)
    values (${subject.type}, ${subject.id}, ${failureClass}, 0, 1, ${until}, ${message})
    on conflict (subject_type, subject_id, failure_class) do update
      set pauses = greatest(b.pauses, 1), paused_until = greatest(b.paused_until, excluded.paused_until),
        trial_until = null, message = excluded.message, failed_at = now()`.execute(db);
}

export interface Passage {
  /** How long to wait before asking again, in milliseconds; 0: go on, as the one trial if a breaker was open. */
  readonly waitMs: number;
  /** The breaker to wait for, as a task names it; absent where none holds this back. */
  readonly heldBy?: string;
  /** What the failures said. */
  readonly message: string;
  /** Something failed there lately: a success is to be noted. */
  readonly isWatched: boolean;
  /** This is the trial of open breakers; what it is known by, to be given back. */
  readonly trial?: string;
}

/** What `passBreakers` answers where nothing has failed. */
export const UNWATCHED: Passage = { waitMs: 0, message: '', isWatched: false };

/** How long a trial may take before somebody else may try: it may have died. */
const TRIAL_S = 120;
/** While another worker is the trial: its success ends the wait, and the next look does where it has come to nothing. */
const TRIED_MS = 5_000;

interface Row extends BreakerSubject {
  message: string;
  isOpen: boolean;
  isOurs: boolean;
  trial: string | null;
  pausedMs: number;
}

/** Asks whether something that these breakers guard may be begun now. Of all who ask when a pause is over, one may: the trial. */
export async function passBreakers(db: Kysely<Database>, subjects: readonly BreakerSubject[]): Promise<Passage> {
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
    return { waitMs: 0, message: '', isWatched: rows.length > 0, ...(trial === undefined ? {} : { trial }) };
  }
  const waitMs = longest.pausedMs > 0 ? Math.ceil(longest.pausedMs) : TRIED_MS;
  return { waitMs, heldBy: heldBy(longest), message: longest.message, isWatched: true };
}

/**
 * A trial has come to nothing, or only to a failure of one kind: whatever else it was to try is left to the next who asks, who would
 * wait until it is taken for dead.
 */
export async function giveBackTrial(db: Kysely<Database>, subjects: readonly BreakerSubject[], trial: string): Promise<void> {
  await sql`
    update breakers b set trial_until = null
    where (subject_type, subject_id, failure_class) in (
      select l.subject_type, l.subject_id, l.failure_class
      from jsonb_to_recordset(${JSON.stringify(subjects)}::jsonb) as s(type text, id text)
      join breakers l on l.subject_type = s.type and l.subject_id = s.id
      where l.trial_until = ${trial}::timestamptz
      order by l.subject_type, l.subject_id, l.failure_class for update of l) and b.trial_until = ${trial}::timestamptz`.execute(db);
}

/** What GitHub refuses us, as `accounts/refusals.ts` writes it: no breaker opens by it, and a success of any kind ends it. */
export const REFUSED = 'refused';

/**
 * What GitHub has asked to wait for, as `accounts/waits.ts` writes it: every call asks for itself, so it opens no breaker, needs no trial, and
 * no success ends it.
 */
export const RATE_LIMITED = 'rate_limited';

/**
 * The pool's failures of which a created pod is the contrary: the cluster refuses its pods. They are made of the pool's template and of our own
 * names, so no account can cause this, and it is the pool's whosever worker met it.
 */
export const POD_REFUSED = 'pod_refused';

/** Closes breakers after what they guard has worked, for all classes of failures or some, and wakes the matcher. */
export async function noteSuccess(
  db: Kysely<Database>,
  subjects: readonly BreakerSubject[],
  { only, except }: { only?: string; except?: string } = {},
): Promise<void> {
  await sql`
    with closed as materialized (
      select b.subject_type, b.subject_id, b.failure_class
      from breakers b join jsonb_to_recordset(${JSON.stringify(subjects)}::jsonb) as s(type text, id text)
        on b.subject_type = s.type and b.subject_id = s.id
      where b.failure_class = coalesce(${only ?? null}, b.failure_class) and b.failure_class is distinct from ${except ?? null}::text
        and b.failure_class <> ${RATE_LIMITED}::text
      order by b.subject_type, b.subject_id, b.failure_class for update of b
    )
    delete from breakers b using closed c
    where (b.subject_type, b.subject_id, b.failure_class) = (c.subject_type, c.subject_id, c.failure_class)`.execute(db);
}
