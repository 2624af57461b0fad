import type { OwnConnection } from '@paddock/db/connection/own-connection';
import { pause } from '@paddock/runtime/pause';
import { type HeldTasks, keyOf } from './held-tasks.ts';
import { beatMs, ENOUGH_LEFT } from './claim-expiry.ts';

export interface HeartbeatOptions {
  /** Its own: a beat must not wait for a free connection of the pool. */
  readonly connection: OwnConnection;
  readonly held: HeldTasks;
  readonly holder: string;
  readonly claimMs: number;
  readonly onError: (error: unknown) => void;
}

export interface Heartbeat {
  /**
   * Renews every claim that is held; asks PostgreSQL even if none is, so that it resolves only where renewing would work. Runs of tasks
   * that have another holder by now are interrupted.
   */
  once(): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

const CHECKS_PER_CLAIM = 60;
const RETRY_MS = 500;

/**
 * Prolongs the claims with one statement, by id and fence: renewing whatever carries our name would keep a task alive for ever whose claim
 * was committed but never reached us. A run that could not be renewed is interrupted before another executor may take it (D5).
 */
export function createHeartbeat({ connection, held, holder, claimMs, onError }: HeartbeatOptions): Heartbeat {
  async function once(): Promise<void> {
    const beating = held.all();
    const sentAt = performance.now();
    const claims = JSON.stringify(beating.map(({ claim: { id, fence } }) => ({ id, fence })));
    const renewed = new Set((await connection.query<{ id: string; fence: number }>(RENEW, [claims, holder])).map(keyOf));
    for (const entry of beating) {
      if (renewed.has(keyOf(entry.claim))) entry.renewal.sentAt = sentAt;
      // One that has ended may have been settled while the beat was under way.
      else if (entry.endedAt === undefined) entry.run.interrupt('claim-lost');
    }
  }

  async function beat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const failed = await once().then(
        () => false,
        (error: unknown) => {
          onError(error);
          return true;
        },
      );
      await pause(failed ? Math.min(RETRY_MS, beatMs(claimMs)) : beatMs(claimMs), signal);
    }
  }

  async function watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const { task, run } of held.running()) if (task.claimLeft() < ENOUGH_LEFT) run.interrupt('claim-lost');
      await pause(claimMs / CHECKS_PER_CLAIM, signal);
    }
  }

  return {
    once,
    async run(signal) {
      await Promise.all([beat(signal), watch(signal)]);
    },
  };
}

const RENEW = `
  update tasks set locked_at = now()
  from jsonb_to_recordset($1::jsonb) as held(id uuid, fence bigint)
  where tasks.id = held.id and tasks.fence = held.fence and tasks.locked_by = $2 and tasks.status = 'running'
  returning tasks.id, tasks.fence`;
