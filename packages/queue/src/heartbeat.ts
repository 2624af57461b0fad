import type { OwnConnection } from '@paddock/db/connection/own-connection';
import { pause } from '@paddock/runtime/pause';
import { type HeldTasks, keyOf } from './held-tasks.ts';
import { beatMs, ENOUGH_LEFT } from './claim-expiry.ts';

export interface HeartbeatOptions {
  /** Not of the pool: a heartbeat must not wait for a free connection. */
  readonly connection: OwnConnection;
  readonly held: HeldTasks;
  readonly holder: string;
  readonly claimMs: number;
  readonly onError: (error: unknown) => void;
}

export interface Heartbeat {
  /**
   * Renews every held claim and interrupts runs whose claim is lost. Asks PostgreSQL even if none
   * is held, so that it resolves only if renewing works.
   */
  once(): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

const CHECKS_PER_CLAIM = 60;
const RETRY_MS = 500;

/**
 * Renews claims by id and fence with one statement. By the holder alone, it would renew for ever a
 * claim that committed and whose answer was lost. Interrupts a run before others may take its task.
 */
export function createHeartbeat({
  connection,
  held,
  holder,
  claimMs,
  onError,
}: HeartbeatOptions): Heartbeat {
  async function once(): Promise<void> {
    const beating = held.all();
    const sentAt = performance.now();
    const claims = JSON.stringify(beating.map(({ claim: { id, fence } }) => ({ id, fence })));
    const renewed = new Set(
      (await connection.query<{ id: string; fence: number }>(RENEW, [claims, holder])).map(keyOf),
    );
    for (const entry of beating) {
      if (renewed.has(keyOf(entry.claim))) entry.renewal.sentAt = sentAt;
      // A run that ended may have been settled during the heartbeat.
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
      for (const { task, run } of held.running())
        if (task.claimLeft() < ENOUGH_LEFT) run.interrupt('claim-lost');
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
