import { sql } from 'kysely';
import type { Database, Db } from './schema/tables.ts';

/**
 * What a switch holds back. `environment`, `pool:NAME` and `entity:ID`: the making of workers.
 * `sweeps`: all sweeps. Anything else: a sweep by the kind of its task, as `check-apps`, or for one
 * subject, as `discover-jobs:acme/api`.
 */
export type SwitchSubject = string;

/** What a person holds back, until somebody lets it go on. */
export interface Switch {
  readonly subject: SwitchSubject;
  readonly by: string;
  readonly since: Date;
  readonly note: string | null;
}

/** Holds the subject back at once. If somebody holds it back already, who did it and why stays. */
export async function setSwitch(
  db: Db,
  subject: SwitchSubject,
  switchedBy: string,
  note?: string,
): Promise<void> {
  await db
    .insertInto('switches')
    .values({ ...keyOf(subject), switched_by: switchedBy, note })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Lets the subject go on. What another switch holds back stays. */
export async function liftSwitch(db: Db, subject: SwitchSubject): Promise<void> {
  await db
    .deleteFrom('switches')
    .where(({ and }) => and(keyOf(subject)))
    .execute();
}

/** The switches of these subjects, the oldest first. */
export const findSwitches = (db: Db, subjects: readonly SwitchSubject[]): Promise<Switch[]> =>
  db
    .selectFrom('switches')
    .select([SUBJECT.as('subject'), 'switched_by as by', 'since', 'note'])
    .where(({ or, and }) => or(subjects.map((subject) => and(keyOf(subject)))))
    .orderBy('since')
    .orderBy('subject')
    .execute();

/** How long the oldest switch of each kind is on. */
export const findOldestSwitches = (db: Db): Promise<{ kind: string; seconds: number }[]> =>
  db
    .selectFrom('switches')
    .select([
      'subject_type as kind',
      sql<number>`extract(epoch from now() - min(since))::float8`.as('seconds'),
    ])
    .groupBy('subject_type')
    .execute();

/** The oldest switch that holds a sweep's task of this subject back. */
export const findSwitchOfSweep = async (
  db: Db,
  kind: string,
  subjectId: string,
): Promise<Switch | undefined> =>
  (await findSwitches(db, [EVERY_SWEEP, kind, `${kind}:${subjectId}`])).at(0);

/** The subject that holds all sweeps back. */
export const EVERY_SWEEP = 'sweeps';

export const SUBJECT = sql<string>`case
  when subject_type = 'environment' then subject_type
  when subject_type <> 'sweep' then subject_type || ':' || subject_id
  when subject_id = '' then ${sql.lit(EVERY_SWEEP)}
  else subject_id end`;

function keyOf(subject: SwitchSubject): Pick<Database['switches'], 'subject_type' | 'subject_id'> {
  if (subject === 'environment') return { subject_type: subject, subject_id: '' };
  const [type, ...id] = subject.split(':');
  return type === 'pool' || type === 'entity'
    ? { subject_type: type, subject_id: id.join(':') }
    : { subject_type: 'sweep', subject_id: subject === EVERY_SWEEP ? '' : subject };
}
