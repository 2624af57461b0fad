import { pause as pauseFor } from './pause.ts';
import { createWake } from './loop.ts';

/** What tasks need outside of PostgreSQL. */
export type Service = 'github' | 'cluster';

/**
 * Asks a service something cheap about no object in particular. Resolves to undefined if it
 * answered, else to why not, for people. Throws if it could not ask.
 */
export type Probe = (signal: AbortSignal) => Promise<string | undefined>;

export interface ReachOptions {
  readonly probe: Probe;
  /** Called when the first probe is not answered, with the reason. */
  readonly onAway: (message: string) => void;
  /** Called when the first probe after that is answered. */
  readonly onBack: () => void;
  /**
   * Tells other processes: why the service is away, or undefined once it is back. Repeated after
   * each probe until it succeeds.
   */
  readonly share: (message: string | undefined) => Promise<unknown>;
  readonly now?: () => number;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Whether this process reaches a service. Only its own probe decides that. */
export interface Reach {
  /** Whether the newest probe was not answered. */
  isAway(): boolean;
  /**
   * Call it after a call of the service has failed. Resolves to whether the service is away, by a
   * probe that begins after the failure. Never rejects.
   */
  report(): Promise<boolean>;
  /** Probes while the service is away, so that its first answer ends that. */
  run(signal: AbortSignal): Promise<void>;
}

const EVERY_MS = 1_000;
/** A service that answers more slowly is not back yet. */
const LIMIT_MS = 3_000;
/** How long to rest while nothing fails; a report ends the rest. */
const REST_MS = 3_600_000;

/**
 * An HTTP status that shows that a service is there. 407 comes from a proxy before it, and so do
 * most answers of 500 and more.
 */
export const isAnswer = (status: number | undefined): boolean =>
  status !== undefined && status < 500 && status !== 407;

/** All callers share one probe a second at most; probes never overlap. */
export function createReach(options: ReachOptions): Reach {
  const { probe, onAway, onBack, share } = options;
  const { now = () => performance.now(), pause = pauseFor } = options;
  const stop = new AbortController();
  const wake = createWake();
  let awayFor: string | undefined;
  let sharedFor: string | undefined;
  let sharing: Promise<unknown> = Promise.resolve();
  /** A probe that has not begun, so it serves whoever reports now. */
  let coming: Promise<boolean> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let nextAt = 0;

  const note = (message: string | undefined): void => {
    const wasAway = awayFor !== undefined;
    // The first reason stays, as that of the row that others read.
    awayFor = message === undefined ? undefined : (awayFor ?? message);
    if (wasAway && awayFor === undefined) onBack();
    if (wasAway || awayFor === undefined) return;
    onAway(awayFor);
    wake.ring();
  };
  const shareOnce = async (): Promise<void> => {
    if (awayFor === sharedFor) return;
    const message = awayFor;
    await share(message);
    sharedFor = message;
  };
  const probeOnce = async (): Promise<boolean> => {
    await pause(Math.max(0, nextAt - now()), stop.signal);
    coming = undefined;
    nextAt = now() + EVERY_MS;
    if (stop.signal.aborted) return awayFor !== undefined;
    const limit = AbortSignal.timeout(LIMIT_MS);
    try {
      const message = await probe(AbortSignal.any([stop.signal, limit]));
      const isLate = message !== undefined && limit.aborted;
      if (!stop.signal.aborted) note(isLate ? `no answer within ${LIMIT_MS} ms` : message);
    } catch {
      // It could not ask, so it knows what it knew before.
    }
    // In turn, so that the newest word is the last; without waiting, for PostgreSQL may be away.
    sharing = sharing.then(shareOnce).catch(() => undefined);
    return awayFor !== undefined;
  };
  const report = (): Promise<boolean> => {
    if (coming === undefined) {
      coming = last.then(probeOnce);
      last = coming;
    }
    return coming;
  };
  return {
    isAway: () => awayFor !== undefined,
    report,
    async run(signal) {
      signal.addEventListener('abort', () => stop.abort(), { once: true });
      if (signal.aborted) stop.abort();
      while (!signal.aborted) {
        if (awayFor === undefined && sharedFor === undefined) await wake.wait(REST_MS, signal);
        else await report();
      }
    },
  };
}
