import { milliseconds } from '@paddock/db/milliseconds';
import { prepared } from '@paddock/db/connection/prepared';
import type { Database } from '@paddock/db/schema/tables';
import { jsonText } from '@paddock/domain/text/storable';
import { type Kysely, sql } from 'kysely';
import type { EndSettlement } from './decide-settlement.ts';
import { withFailure } from './failures.ts';
import { CARRIED, countEnded } from './operations.ts';

/** A claim as its holder knows it. A row with another fence or holder belongs to another claim. */
export interface Claim {
  readonly id: string;
  readonly fence: number;
  readonly holder: string;
}

/**
 * SQL: a row of tasks still has the claim in `given`. Not `status = 'running'`: the planner would
 * use the index of running tasks, which is full of dead entries when the queue is busy.
 */
export const isStillHeld = sql`tasks.status <> 'queued' and tasks.fence = given.fence and tasks.locked_by = given.holder`;

export interface EndedTask {
  readonly claim: Claim;
  readonly settlement: EndSettlement;
}

export interface Keep {
  readonly okMs: number;
  readonly failedMs: number;
}

/**
 * Moves ended tasks to the operations and counts them. Returns the ids that moved. The other tasks
 * have another claim now, and do not change.
 */
export async function endTasks(
  db: Kysely<Database>,
  tasks: readonly EndedTask[],
  keep: Keep,
): Promise<string[]> {
  if (tasks.length === 0) return [];
  // Most tasks end well without an output: PostgreSQL reads four arrays faster than objects.
  const ids = tasks.map(({ claim }) => claim.id);
  const fences = tasks.map(({ claim }) => claim.fence);
  const holders = tasks.map(({ claim }) => claim.holder);
  const more = tasks.map(moreOf);
  const failures = withFailure({
    failures: sql`failures`,
    attempt: sql`attempt`,
    reason: sql`last`,
    message: sql`message`,
  });
  const { rows } = await sql<{ id: string }>`${prepared}
    with given as materialized (
      select id, fence, holder, more ->> 'output' as output, more ->> 'reason' as reason, more ->> 'last' as last, more ->> 'message' as message
      from unnest(${ids}::uuid[], ${fences}::bigint[], ${holders}::text[], ${more}::jsonb[]) as rows(id, fence, holder, more)
    ),
    gone as (
      delete from tasks using given
      where tasks.id = any (array(select id from given)) and tasks.id = given.id and ${isStillHeld}
      returning tasks.*, given.output, given.reason, given.last, given.message
    ),
    ended as (
      insert into operations (${CARRIED}, status, failures, expires_at, output, failure_reason, failure_message)
      select ${CARRIED},
             case when reason is null then 'OK' else 'ERROR' end,
             case when last is null then failures else ${failures} end,
             now() + case when reason is null then ${milliseconds(keep.okMs)} else ${milliseconds(keep.failedMs)} end,
             output::jsonb, reason, message
      from gone
      returning id, kind, status, failure_reason
    ),
    counted as (${countEnded(sql`ended`)})
    select id from ended`.execute(db);
  return rows.map(({ id }) => id);
}

/** The fields beyond the claim as JSON text; null if there are none. */
function moreOf({ settlement }: EndedTask): string | null {
  if (settlement.to === 'ok')
    return settlement.output === undefined ? null : jsonText({ output: settlement.output });
  const { reason, last, message } = settlement;
  return jsonText({ reason, last, message });
}
