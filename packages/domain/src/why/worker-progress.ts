import type { WorkerFacts } from './wait-facts.ts';

/** How far a worker has come, the readiest first, each with a phrase for people. */
export const WORKER_STATES = {
  ready: 'its pod runs, and GitHub can give it a job',
  starting: 'its pod is starting',
  registered: 'it is registered, and its pod is being made',
  registering: 'GitHub is asked to register it',
  reserved: 'its registration has not begun',
  offline: 'its pod runs, and GitHub calls its runner offline',
  no_node: 'no node takes its pod',
  stuck: 'its pod does not start, or does not go',
  stopping: 'it is being stopped',
} as const;

export type WorkerState = keyof typeof WORKER_STATES;

function workerState(worker: WorkerFacts): WorkerState {
  if (worker.isStopping) return 'stopping';
  // It is stuck as well, but nodes help, and not another image.
  if (worker.isUnschedulable) return 'no_node';
  if (worker.stuckReason !== null) return 'stuck';
  if (worker.isRunning) return worker.isOffline ? 'offline' : 'ready';
  if (worker.hasPod) return 'starting';
  if (worker.isRegistered) return 'registered';
  return worker.hasBegunRegistration ? 'registering' : 'reserved';
}

const RANKS = Object.keys(WORKER_STATES);

export interface WorkerOnItsWay {
  readonly name: string;
  readonly state: WorkerState;
  /** A sentence or phrase: what the state means, and the diagnosis if there is one. */
  readonly detail: string;
  readonly ageMs: number;
}

/**
 * The readiest first, then the oldest. Every worker of a key fits every job of it, so the oldest job
 * may expect the readiest worker.
 */
export const workersOnTheirWay = (workers: readonly WorkerFacts[], now: Date): WorkerOnItsWay[] =>
  workers
    .map((worker) => {
      const state = workerState(worker);
      const { name, stuckReason, diagnosis } = worker;
      const cause = [stuckReason, diagnosis].filter((one) => one !== null).join(': ');
      const detail = WORKER_STATES[state] + (cause === '' ? '' : ` (${cause})`);
      return { name, state, detail, ageMs: now.getTime() - worker.createdAt.getTime() };
    })
    .toSorted((a, b) => RANKS.indexOf(a.state) - RANKS.indexOf(b.state) || b.ageMs - a.ageMs);
