import { mayPass } from '@paddock/db/connection/errors';
import { ENOUGH_LEFT } from '@paddock/queue/claim-tasks';
import type { Task } from '@paddock/queue/kind';
import { pause } from '@paddock/runtime/pause';

/** One run of a claimed task; `signal` interrupts it. */
export interface TaskRun {
  readonly task: Task;
  readonly signal: AbortSignal;
}

/** Whether enough of the claim's time is left to begin a call of GitHub or the cluster. */
export const hasTimeLeft = (task: Task): boolean => task.claimLeft() > ENOUGH_LEFT;

/**
 * Throws unless a third of the claim's time is left; the queue runs the task again. With less,
 * another executor may soon run it too. A process that stood still until now has not been
 * interrupted yet.
 */
export function requireTimeLeft(task: Task): void {
  const left = task.claimLeft();
  if (left > ENOUGH_LEFT) return;
  throw new Error(
    `Only ${Math.round(left * 100)} % of the claim on task ${task.id} is left: too little to begin a call of GitHub or the cluster.`,
  );
}

const RETRY_MS = 250;

/**
 * Repeats a statement while PostgreSQL is away, or refuses it for the moment, and the claim has time
 * left. So neither a restart of PostgreSQL nor a lost race loses what only this run has in memory,
 * such as a JIT config. The statement must be idempotent. Rethrows all other errors.
 */
export async function retryWhileAway<T>(
  { task, signal }: TaskRun,
  statement: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await statement();
    } catch (error) {
      if (!mayPass(error) || signal.aborted || !hasTimeLeft(task)) throw error;
      await pause(RETRY_MS, signal);
    }
  }
}

const SOONEST_MS = 1_000;
const LATEST_MS = 30_000;

/**
 * How long a worker waits after a failure that may pass, in milliseconds: an eighth of its age, so
 * that a long failure is retried less and less often.
 */
export const soonMs = ({ ageMs }: { readonly ageMs: number }): number =>
  Math.min(LATEST_MS, Math.max(SOONEST_MS, ageMs / 8));
