import { prepared } from '@paddock/db/connection/prepared';
import { milliseconds } from '@paddock/db/milliseconds';
import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { pause } from '@paddock/runtime/pause';
import { sql } from 'kysely';
import { beatMs, ENOUGH_LEFT } from './claim-tasks.ts';
import type { Task } from './kind.ts';
import type { Run } from './run-handler.ts';
import { type Claim, isHeldBy } from './write-settlements.ts';

/**
 * A task that this process has claimed: it waits for a slot, it runs, or its run is over and not
 * settled yet. Instants are of the monotonic clock.
 */
export interface HeldTask {
  readonly task: Task;
  readonly claim: Claim;
  readonly run: Run;
  readonly claimedAt: number;
  /** When the last successful renewal was sent. */
  readonly renewal: { sentAt: number };
  /** Set when the run begins. */
  startedAt: number | undefined;
  /** Set when the run is over. This frees the slot; the claim lasts until the task is settled. */
  endedAt: number | undefined;
}

/** By `keyOf`, until they are settled. */
export type HeldTasks = Map<string, HeldTask>;

/** Those that wait for a slot, or run. */
export const unended = (held: HeldTasks): HeldTask[] =>
  [...held.values()].filter(({ endedAt }) => endedAt === undefined);

/**
 * By id and fence: a process may hold one task twice, a lost run that is not settled yet and the
 * run after it.
 */
export const keyOf = ({ id, fence }: Pick<Claim, 'id' | 'fence'>): string => `${id}:${fence}`;

export interface HeartbeatOptions {
  /** A pool of its own: a renewal must not wait behind a full one. */
  readonly db: Db;
  readonly held: HeldTasks;
  readonly holder: string;
  readonly claimMs: number;
  readonly onError: (error: unknown) => void;
}

const CHECKS_PER_CLAIM = 60;
const RETRY_MS = 500;

/**
 * Renews claims by id and fence with one statement. By the holder alone, it would renew for ever a
 * claim that committed and whose answer was lost. Interrupts a run before others may take its task.
 */
export function createHeartbeat({ db, held, holder, claimMs, onError }: HeartbeatOptions) {
  /** Asks PostgreSQL even if no claim is held, so that it resolves only if renewing works. */
  async function once(): Promise<void> {
    const beating = [...held.values()];
    const sentAt = performance.now();
    const ids = beating.map(({ claim }) => claim.id);
    const fences = beating.map(({ claim }) => claim.fence);
    const rows = await rowsOf<{ id: string; fence: number }>(db)`${prepared}
      update tasks set locked_until = now() + ${milliseconds(claimMs)}
      from unnest(${ids}::uuid[], ${fences}::bigint[]) as given(id, fence)
      where tasks.id = any(${ids}::uuid[]) and tasks.id = given.id and ${isHeldBy(sql`${holder}`)}
      returning tasks.id, tasks.fence`;
    const renewed = new Set(rows.map(keyOf));
    for (const entry of beating) {
      if (renewed.has(keyOf(entry.claim))) entry.renewal.sentAt = sentAt;
      // A run that ended may have been settled during the heartbeat.
      else if (entry.endedAt === undefined) entry.run.interrupt('claim-lost');
    }
  }

  async function beat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let waitMs = beatMs(claimMs);
      await once().catch((error: unknown) => {
        onError(error);
        waitMs = Math.min(RETRY_MS, waitMs);
      });
      await pause(waitMs, signal);
    }
  }

  async function watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const { task, run } of unended(held))
        if (task.claimLeft() < ENOUGH_LEFT) run.interrupt('claim-lost');
      await pause(claimMs / CHECKS_PER_CLAIM, signal);
    }
  }

  return {
    once,
    run: async (signal: AbortSignal): Promise<void> => {
      await Promise.all([beat(signal), watch(signal)]);
    },
  };
}
