import { ENOUGH } from '@paddock/queue/lease';
import type { Task } from '@paddock/queue/task';

/** Whether enough of the lease is left to begin an outside call. */
export const hasLease = (task: Task): boolean => task.leaseLeft() > ENOUGH;

/**
 * Throws unless a third of the lease is left: with less the run is interrupted anyway, and another executor may soon do the same beside us
 * (C6). The process may have stood still until now, so that nobody has interrupted it yet. The queue runs the task again.
 */
export function requireLease(task: Task): void {
  const left = task.leaseLeft();
  if (left <= ENOUGH)
    throw new Error(`Only ${Math.round(left * 100)} % of the lease of task ${task.id} is left: no outside call is begun.`);
}
