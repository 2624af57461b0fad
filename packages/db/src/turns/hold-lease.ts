import { pause } from '@paddock/runtime/pause';
import type { Kysely } from 'kysely';
import { releaseLease, renewLease, takeLease } from './leases.ts';
import type { Database } from '../schema/tables.ts';

export interface HoldLeaseOptions {
  db: Kysely<Database>;
  name: string;
  /** Who we are, unique per process. */
  holder: string;
  leaseMs: number;
  renewMs: number;
  /** Told of statements that failed; the lease is then tried again. */
  onError: (error: unknown) => void;
}

/**
 * Runs `work` whenever this process holds the lease, until `signal` aborts. The signal given to `work` also aborts when the lease could
 * not be renewed in time; work that ends by itself gives the lease back and is taken up again.
 */
export async function holdLease(
  options: HoldLeaseOptions,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { db, name, holder, leaseMs, renewMs, onError } = options;
  while (!signal.aborted) {
    const fence = await takeLease(db, name, holder, leaseMs).catch((error: unknown) => {
      onError(error);
      return undefined;
    });
    if (fence === undefined) {
      await pause(renewMs, signal);
      continue;
    }
    const lost = new AbortController();
    const working = AbortSignal.any([signal, lost.signal]);
    const renewing = keepRenewing(options, fence, lost, working);
    try {
      await work(working);
    } catch (error) {
      onError(error);
    } finally {
      lost.abort(new Error(`the work under lease ${name} ended`));
      await renewing;
      await releaseLease(db, name, fence).catch(onError);
    }
    if (!signal.aborted) await pause(renewMs, signal);
  }
}

async function keepRenewing(options: HoldLeaseOptions, fence: number, lost: AbortController, working: AbortSignal): Promise<void> {
  const { db, name, leaseMs, renewMs, onError } = options;
  // Monotonic: a step of the wall clock must neither prolong nor end what we believe to hold.
  let renewedAt = performance.now();
  while (!working.aborted) {
    await pause(renewMs, working);
    if (working.aborted) return;
    const asked = performance.now();
    const ours = await renewLease(db, name, fence, leaseMs).catch((error: unknown) => {
      onError(error);
      return undefined;
    });
    if (ours === true) renewedAt = asked;
    if (ours === false || performance.now() - renewedAt > leaseMs - renewMs) {
      lost.abort(new Error(`the lease ${name} could not be renewed and belongs to whoever takes it now`));
    }
  }
}
