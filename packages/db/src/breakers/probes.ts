import { type Kysely, sql } from 'kysely';
import { installationToday } from '../entities/installation-today.ts';
import { isWaiting } from './waits.ts';
import { prepared } from '../connection/prepared.ts';
import type { Database } from '../schema/tables.ts';
import type { BreakerSubject } from './breaker-subjects.ts';
import { milliseconds } from '../milliseconds.ts';

// GitHub and the cluster come back by themselves. They are probed while their breaker is open, so
// that jobs wait no longer than that:
//
//   open ──probe unanswered──► silent: the pause goes on ──probe answered──► the pause ends: one trial, at once ──success──► closed
//     ▲                                                                                            │
//     └────────────────────── failure: probed anew, for it may be away again ◄─────────────────────┘
//
// Once a probe was answered, the trial decides. No probe runs until a trial has failed.

/** The subjects that a cheap call can probe. All others need a person or a real attempt. */
export type Probed = BreakerSubject & { readonly type: 'github' | 'cluster' };

/** Whether breaker `b` is open, and nothing has answered since the last failure. */
export const IS_PROBED = sql.raw<boolean>(
  `(b.pauses > 0 and b.subject_type in ('github', 'cluster') and (b.answered_at is null or b.answered_at <= b.failed_at))`,
);

/** The subjects to probe now. */
export async function findProbed(db: Kysely<Database>): Promise<Probed[]> {
  const { rows } = await sql<Probed>`${prepared}
    select distinct b.subject_type as type, b.subject_id as id from breakers b where ${IS_PROBED} order by type, id`.execute(
    db,
  );
  return rows;
}

/**
 * Notes that a probe or another call was answered. The first answer after a silence ends the pause,
 * so that the trial is due at once, even if a trial began in the silence. Returns whether this was
 * the first answer.
 */
export async function noteAnswer(db: Kysely<Database>, subject: Probed): Promise<boolean> {
  const { rows } = await sql<{ wasSilent: boolean }>`
    with open as materialized (
      select subject_type, subject_id, failure_class, answered_at is null as was_silent from breakers b
      where (b.subject_type, b.subject_id) = (${subject.type}, ${subject.id}) and ${IS_PROBED}
      order by failure_class for update
    )
    update breakers b set answered_at = now(),
      paused_until = case when was_silent then least(b.paused_until, now()) else b.paused_until end,
      trial_until = case when was_silent then null else b.trial_until end
    from open o
    where (b.subject_type, b.subject_id, b.failure_class) = (o.subject_type, o.subject_id, o.failure_class)
    returning was_silent as "wasSilent"`.execute(db);
  return rows.some(({ wasSilent }) => wasSilent);
}

/** Longer than the time between two probes, with a margin for a busy process. */
const SILENCE_MS = 5_000;

/**
 * Notes that a probe was not answered: the pause goes on while probes fail. After the longest pause
 * a trial runs nevertheless, because the probe alone may fail.
 */
export async function noteSilence(
  db: Kysely<Database>,
  subject: Probed,
  longestPauseMs: number,
): Promise<void> {
  await sql`
    with open as materialized (
      select subject_type, subject_id, failure_class from breakers b
      where (b.subject_type, b.subject_id) = (${subject.type}, ${subject.id}) and ${IS_PROBED}
      order by failure_class for update
    )
    update breakers b set answered_at = null, paused_until = greatest(b.paused_until, least(
      now() + ${milliseconds(SILENCE_MS)}, b.failed_at + ${milliseconds(longestPauseMs)}))
    from open o
    where (b.subject_type, b.subject_id, b.failure_class) = (o.subject_type, o.subject_id, o.failure_class)`.execute(
    db,
  );
}

/** As whom GitHub is probed. */
export interface ProbePlace {
  readonly appId: number;
  readonly installationId: number;
  readonly entityId: number;
}

/**
 * An installation that waits for a worker and that GitHub has not asked to make no calls;
 * undefined: there is none.
 */
export async function findProbePlace(
  db: Kysely<Database>,
  appIds: readonly number[],
): Promise<ProbePlace | undefined> {
  const { rows } = await sql<ProbePlace>`${prepared}
    select i.app_id as "appId", i.installation_id as "installationId", w.entity_id as "entityId"
    from workers w ${installationToday('w', appIds)}
    where w.status = 'pending' and w.registration_started_at is null and i.app_id is not null
      and not ${isWaiting({ entityId: 'w.entity_id', appId: 'i.app_id' })}
    order by w.created_at desc limit 1`.execute(db);
  return rows[0];
}
