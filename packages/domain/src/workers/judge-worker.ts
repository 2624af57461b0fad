import type { StopReason } from './stop-reasons.ts';

/** A worker that is past a deadline, and what GitHub says of its runner now. Times in milliseconds. */
export interface OverdueRunner {
  readonly runner: 'unknown' | 'offline' | 'online' | 'busy';
  /** It was assigned, and its job has long ended or was never told. */
  readonly hadJob: boolean;
  /** GitHub has called it online, now or before. */
  readonly wasOnline: boolean;
  /** For how long every reading has called it offline; null if this one does not. */
  readonly offlineForMs: number | null;
  /** Its runner's container has run for longer than a runner may take to come online. */
  readonly isRegistrationDue: boolean;
  /** It has run for longer than a runner may be idle, and is not kept idle. */
  readonly isIdleDue: boolean;
  readonly idleDeadlineMs: number;
  /** How long the oldest waiting job of its key has been known; null if none waits. */
  readonly waitingForMs: number | null;
}

/** Why the worker is to be stopped, if it is (E5, C11). A job that waits for less than the deadline may be given to it any moment. */
export function judgeWorker(worker: OverdueRunner, { offlineMs }: { readonly offlineMs: number }): StopReason | undefined {
  const { runner, hadJob, wasOnline, offlineForMs, isRegistrationDue, isIdleDue, idleDeadlineMs, waitingForMs } = worker;
  if (hadJob) return runner === 'busy' ? undefined : 'over';
  switch (runner) {
    case 'busy':
      return undefined;
    case 'unknown':
    case 'offline':
      if (!wasOnline) return isRegistrationDue ? 'not_registered' : undefined;
      if (runner === 'unknown') return isIdleDue ? 'registration_gone' : undefined;
      return (offlineForMs ?? 0) >= offlineMs ? 'offline' : undefined;
    case 'online':
      if (!isIdleDue) return undefined;
      if (waitingForMs === null) return 'idle';
      return waitingForMs >= idleDeadlineMs ? 'not_assigned' : undefined;
    default:
      return runner satisfies never;
  }
}
