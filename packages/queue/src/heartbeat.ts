import { milliseconds } from '@paddock/db/milliseconds';
import { prepared } from '@paddock/db/connection/prepared';
import type { Database } from '@paddock/db/schema/tables';
import { pause } from '@paddock/runtime/pause';
import { type Kysely, sql } from 'kysely';
import { beatMs, ENOUGH_LEFT } from './claim-expiry.ts';
import { type HeldTasks, keyOf } from './held-tasks.ts';

export interface HeartbeatOptions {
  /** A pool of its own: a renewal must not wait behind a full one. */
  readonly db: Kysely<Database>;
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
    const beating = held.all();
    const sentAt = performance.now();
    const claims = JSON.stringify(beating.map(({ claim: { id, fence } }) => ({ id, fence })));
    const { rows } = await sql<{ id: string; fence: number }>`${prepared}
      update tasks set locked_until = now() + ${milliseconds(claimMs)}
      from jsonb_to_recordset(${claims}::jsonb) as held(id uuid, fence bigint)
      where tasks.id = held.id and tasks.fence = held.fence and tasks.locked_by = ${holder} and tasks.status = 'running'
      returning tasks.id, tasks.fence`.execute(db);
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
      for (const { task, run } of held.running())
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
