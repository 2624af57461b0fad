import type { OwnConnection } from '@paddock/db/connection/own-connection';
import { pause } from '@paddock/runtime/pause';
import { type HeldTasks, keyOf } from './held-tasks.ts';

export interface HeartbeatOptions {
  /** Its own: a beat must not wait for a free connection of the pool. */
  readonly connection: OwnConnection;
  readonly held: HeldTasks;
  readonly holder: string;
  readonly leaseMs: number;
  readonly onError: (error: unknown) => void;
}

export interface Heartbeat {
  /**
   * Renews every lease that is held; asks PostgreSQL even if none is, so that it resolves only where renewing would work. Runs of tasks
   * that have another holder by now are interrupted.
   */
  once(): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

const BEATS_PER_LEASE = 3;
const LOOKS_PER_LEASE = 12;

/**
 * Prolongs the leases with one statement every third of the lease, by id and fence: renewing whatever carries our name would keep a task
 * alive for ever whose claim was committed but never reached us. A run that could not be renewed for two thirds of the lease is
 * interrupted, before another executor may take it (D5).
 */
export function createHeartbeat({ connection, held, holder, leaseMs, onError }: HeartbeatOptions): Heartbeat {
  async function once(): Promise<void> {
    const beating = held.all();
    const asked = performance.now();
    const claims = JSON.stringify(beating.map(({ claim: { id, fence } }) => ({ id, fence })));
    const renewed = new Set((await connection.query<{ id: string; fence: number }>(RENEW, [claims, holder])).map(keyOf));
    for (const entry of beating) {
      if (renewed.has(keyOf(entry.claim))) entry.lease.renewedAt = asked;
      // One that has ended may have been settled while the beat was under way.
      else if (entry.endedAt === undefined) entry.run.interrupt('lease-lost');
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
      await pause(leaseMs / (failed ? LOOKS_PER_LEASE : BEATS_PER_LEASE), signal);
    }
  }

  async function watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const tooOld = performance.now() - (leaseMs * 2) / 3;
      for (const { lease, run } of held.running()) if (lease.renewedAt < tooOld) run.interrupt('lease-lost');
      await pause(leaseMs / LOOKS_PER_LEASE, signal);
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

/** A beat touches a few rows by their keys. */
const LONGEST_BEAT_MS = 5_000;

/** The longest a beat may take, in milliseconds: two fit between the first missed one and the two thirds. */
export const beatTimeoutMs = (leaseMs: number): number => Math.min(LONGEST_BEAT_MS, Math.max(100, leaseMs / 6));
