import type { RunnerSays } from './may-end.ts';
import type { StopReason } from './stop-reasons.ts';

/** A worker past a deadline, with GitHub's current state of its runner. Times in milliseconds. */
export interface OverdueRunner {
  readonly runner: RunnerSays;
  /** It was assigned, and its job ended long ago or is unknown. */
  readonly hadJob: boolean;
  /** GitHub has called it online, now or before. */
  readonly wasOnline: boolean;
  /** How long all readings have called it offline; null if this one does not. */
  readonly offlineForMs: number | null;
  /** Its runner's container has run for longer than the registration deadline. */
  readonly isRegistrationDue: boolean;
  /** It has run for longer than the idle deadline, and is not a warm worker. */
  readonly isIdleDue: boolean;
  readonly idleDeadlineMs: number;
  /** How long we have known the oldest waiting job of its key; null if none waits. */
  readonly waitingForMs: number | null;
}

/**
 * Why to stop the worker; undefined: keep it. Who is past a deadline says `findOverdueWorkers`, who
 * is more than the jobs need `planSpareStops`. If a job has waited for less than the deadline,
 * GitHub may still give it to the worker.
 */
export function judgeWorker(
  worker: OverdueRunner,
  { offlineMs }: { readonly offlineMs: number },
): StopReason | undefined {
  const { runner, isIdleDue, waitingForMs } = worker;
  if (worker.hadJob) return runner === 'busy' ? undefined : 'over';
  switch (runner) {
    case 'busy':
      return undefined;
    case 'unknown':
    case 'offline':
      if (!worker.wasOnline) return worker.isRegistrationDue ? 'not_registered' : undefined;
      if (runner === 'unknown') return isIdleDue ? 'registration_gone' : undefined;
      return (worker.offlineForMs ?? 0) >= offlineMs ? 'offline' : undefined;
    case 'online':
      if (!isIdleDue) return undefined;
      if (waitingForMs === null) return 'idle';
      return waitingForMs >= worker.idleDeadlineMs ? 'not_assigned' : undefined;
    default:
      return runner satisfies never;
  }
}
