import type { NewTask } from './new-task.ts';

/** How a run ended. Whatever a handler throws means "try again later" and is not among these. */
export type Outcome =
  | { readonly outcome: 'done'; readonly output?: unknown; readonly followOn?: readonly NewTask[] }
  | { readonly outcome: 'snooze'; readonly delayMs: number; readonly reason: string; readonly heldBy?: string }
  | { readonly outcome: 'poison'; readonly reason: string };

/**
 * The work is done. `output` is kept with the operation: JSON, ids only. The tasks in `followOn` are enqueued in the transaction that
 * settles this one: both or neither (D14).
 */
export function done(output?: unknown, followOn?: readonly NewTask[]): Outcome {
  return { outcome: 'done', ...(output === undefined ? {} : { output }), ...(followOn === undefined ? {} : { followOn }) };
}

/**
 * A precondition is missing (a rate limit, a quota): run again after `delayMs`. Costs no attempt (D4). `heldBy` is the breaker that the
 * task waits for, as TYPE:ID of its subject: when that lets go sooner, the task is due sooner.
 */
export const snooze = (delayMs: number, reason: string, more: { readonly heldBy?: string } = {}): Outcome => ({
  outcome: 'snooze',
  delayMs,
  reason,
  ...more,
});

/** No repetition can help (a malformed payload, a vanished row): the task ends as failed at once. */
export const poison = (reason: string): Outcome => ({ outcome: 'poison', reason });
