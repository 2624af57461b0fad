import type { Kysely, Transaction } from 'kysely';
import type { ActionSubject } from '../schema/people-tables.ts';
import type { Database } from '../schema/tables.ts';

/** What a person does. */
export interface Action {
  readonly person: string;
  readonly from: 'terminal' | 'api';
  /** The name of an endpoint. */
  readonly endpoint: string;
  readonly subject: ActionSubject;
  /** Why, in the person's words. */
  readonly note: string | null;
}

export interface RecordedAction extends Action {
  readonly id: number;
  readonly at: Date;
}

/** Adds an action to the audit, in the transaction of the action itself. */
export async function recordAction(
  trx: Transaction<Database>,
  { person, from, endpoint, subject, note }: Action,
): Promise<void> {
  await trx
    .insertInto('actions')
    .values({ person, came_from: from, endpoint, subject: JSON.stringify(subject), note })
    .execute();
}

/** Actions, the newest first, from the first one before `after`. */
export const listActions = (
  db: Kysely<Database>,
  { limit, after }: { limit: number; after?: number | undefined },
): Promise<RecordedAction[]> =>
  db
    .selectFrom('actions')
    .select(['id', 'person', 'acted_at as at', 'came_from as from', 'endpoint', 'subject', 'note'])
    .$if(after !== undefined, (query) => query.where('id', '<', after ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
