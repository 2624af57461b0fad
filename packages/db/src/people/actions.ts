import { type Kysely, sql, type Transaction } from 'kysely';
import type { ActionSubject } from '../schema/people-tables.ts';
import type { Database } from '../schema/tables.ts';
import { exactText, isOnPage, type PageOfTime, type Position } from './newest-first.ts';

/** What a person does. */
export interface Action {
  readonly person: string;
  readonly from: 'terminal' | 'api';
  /** The name of an endpoint. */
  readonly endpoint: string;
  readonly subject: ActionSubject;
  /** Why, in the person's words. */
  readonly note: string | null;
  /** The id of the operation that it asked for. */
  readonly operation: string | null;
}

export interface RecordedAction extends Action {
  readonly id: number;
  readonly at: Date;
}

/** Adds an action to the audit, in the transaction of the action itself. */
export async function recordAction(
  trx: Transaction<Database>,
  { person, from, endpoint, subject, note, operation }: Action,
): Promise<void> {
  await trx
    .insertInto('actions')
    .values({
      person,
      came_from: from,
      endpoint,
      subject: JSON.stringify(subject),
      note,
      operation,
    })
    .execute();
}

const COLUMNS = [
  'id',
  'person',
  'acted_at as at',
  'came_from as from',
  'endpoint',
  'subject',
  'note',
  'operation',
] as const;

/** Actions, the newest first, from the first one before `after`. */
export const listActions = (
  db: Kysely<Database>,
  { limit, after }: { limit: number; after?: number | undefined },
): Promise<RecordedAction[]> =>
  db
    .selectFrom('actions')
    .select(COLUMNS)
    .$if(after !== undefined, (query) => query.where('id', '<', after ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();

/** Who asked for an operation, and when. */
export interface Asker {
  readonly person: string;
  readonly at: Date;
  readonly note: string | null;
}

/**
 * Everybody who asked for this operation, in order: also for one that was merged into it, as a
 * running task does with its successor when it has to run again.
 */
export async function findAskers(
  db: Kysely<Database>,
  operation: { id: string; kind: string; subject: { type: string; id: string } },
): Promise<Asker[]> {
  const { rows } = await sql<Asker>`
    select person, acted_at as at, note from actions
    where operation = any (array(
      select ${operation.id}::uuid
      union all
      select id from operations
      where subject_id = ${operation.subject.id} and subject_type = ${operation.subject.type} and kind = ${operation.kind}
        and output ->> 'mergedInto' = ${operation.id}))
    order by actions.id`.execute(db);
  return rows;
}

export interface ListedAction {
  readonly action: RecordedAction;
  readonly position: Position<number>;
}

/** What people did to an entity and what belongs to it, the newest first. */
export async function listEntityActions(
  db: Kysely<Database>,
  entityId: number,
  page: PageOfTime<number>,
): Promise<ListedAction[]> {
  const at = sql<Date>`acted_at`;
  const rows = await db
    .selectFrom('actions')
    .select([...COLUMNS, exactText(at).as('exactAt')])
    .where('entity_id', '=', entityId)
    .where(isOnPage({ id: sql`id`, idType: sql`bigint` }, page, at))
    .orderBy('acted_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute();
  return rows.map(({ exactAt, ...action }) => ({ action, position: [exactAt, action.id] }));
}
