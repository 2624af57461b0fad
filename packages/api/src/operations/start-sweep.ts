import type { Database } from '@paddock/db/schema/tables';
import { findSwitchOfSweep } from '@paddock/db/switches';
import type { Transaction } from 'kysely';
import type { z } from 'zod';
import type { Request } from '../actions/act.ts';
import type { Caller } from '../endpoint.ts';
import { refused } from '../problem.ts';
import type { operation } from './operation.ts';
import { type Prepare, startOperation } from './start-operation.ts';

/** Starts the sweep whose task `prepare` returns, unless it is paused. */
export const startSweep = (
  caller: Caller,
  request: Request,
  prepare: Prepare,
): Promise<z.output<typeof operation>> =>
  startOperation(caller, request, async (trx) => {
    const task = await prepare(trx);
    await requireUnpaused(trx, task.kind, task.subject.id);
    return task;
  });

/** Rejects with a Problem if the sweep is paused: the task would end without having done anything. */
export async function requireUnpaused(
  trx: Transaction<Database>,
  kind: string,
  subjectId: string,
): Promise<void> {
  const found = await findSwitchOfSweep(trx, kind, subjectId);
  if (found === undefined) return;
  const { by, since, note } = found;
  throw refused(
    `It is paused by ${by} since ${since.toISOString()}${note === null ? '' : ` (${note})`}.`,
  );
}
