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
  /** Receives failed statements; the lease is then tried again. */
  onError: (error: unknown) => void;
}

/**
 * Runs `work` while this process holds the lease, until `signal` aborts. The signal of `work` also
 * aborts when the lease was not renewed in time, even if PostgreSQL is silent. Work that ends by
 * itself gives the lease back and starts again.
 */
export async function holdLease(
  options: HoldLeaseOptions,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { db, name, holder, leaseMs, renewMs, onError } = options;
  while (!signal.aborted) {
    const asked = performance.now();
    const fence = await takeLease(db, name, holder, leaseMs).catch((error: unknown) => {
      onError(error);
      return undefined;
    });
    const term = leaseTerm(name, leaseMs - renewMs, asked);
    if (fence === undefined || term.lost.aborted) {
      term.end();
      await pause(renewMs, signal);
      continue;
    }
    const working = AbortSignal.any([signal, term.lost]);
    const renewing = keepRenewing(options, fence, term, working);
    try {
      await work(working);
    } catch (error) {
      onError(error);
    } finally {
      term.end();
      await renewing;
      await releaseLease(db, name, fence).catch(onError);
    }
    if (!signal.aborted) await pause(renewMs, signal);
  }
}

interface LeaseTerm {
  /** Aborts when the term is over or ended. */
  readonly lost: AbortSignal;
  /** Another term, from when its renewal was asked for. */
  prolong(askedAt: number): void;
  end(): void;
}

/**
 * How long this process may believe to hold a lease: shorter than its row says, and by a timer, so
 * that an unanswered statement does not prolong it. Monotonic: a step of the wall clock neither
 * prolongs nor ends it.
 */
function leaseTerm(name: string, termMs: number, askedAt: number): LeaseTerm {
  const lost = new AbortController();
  const end = () =>
    lost.abort(
      new Error(
        `the lease ${name} has ended or could not be renewed, and any replica may take it now`,
      ),
    );
  let timer: NodeJS.Timeout | undefined;
  const prolong = (from: number) => {
    clearTimeout(timer);
    const leftMs = from + termMs - performance.now();
    if (leftMs <= 0) end();
    else if (!lost.signal.aborted) timer = setTimeout(end, leftMs);
  };
  prolong(askedAt);
  return {
    lost: lost.signal,
    prolong,
    end() {
      clearTimeout(timer);
      end();
    },
  };
}

/** How soon the next renewal follows a failed one: perhaps only its connection was broken. */
const RETRIES_PER_RENEWAL = 4;

async function keepRenewing(
  options: HoldLeaseOptions,
  fence: number,
  term: LeaseTerm,
  working: AbortSignal,
): Promise<void> {
  const { db, name, leaseMs, renewMs, onError } = options;
  let waitMs = renewMs;
  while (!working.aborted) {
    await pause(waitMs, working);
    if (working.aborted) return;
    const asked = performance.now();
    const ours = await renewLease(db, name, fence, leaseMs).catch((error: unknown) => {
      onError(error);
      return undefined;
    });
    waitMs = ours === undefined ? renewMs / RETRIES_PER_RENEWAL : renewMs;
    if (ours === true) term.prolong(asked);
    if (ours === false) term.end();
  }
}
