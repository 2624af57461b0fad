import type { NewTask } from './enqueue.ts';

/** A handler's result. A thrown error is no outcome: it means "try again later". */
export type Outcome =
  | { readonly outcome: 'done'; readonly output?: unknown; readonly followOn?: readonly NewTask[] }
  | { readonly outcome: 'snooze'; readonly delayMs: number; readonly reason: string }
  | { readonly outcome: 'poison'; readonly reason: string };

/**
 * The work is done. The operation keeps `output` (JSON, ids only). The transaction that settles
 * this task enqueues `followOn`: both or neither.
 */
export function done(output?: unknown, followOn?: readonly NewTask[]): Outcome {
  return {
    outcome: 'done',
    ...(output === undefined ? {} : { output }),
    ...(followOn === undefined ? {} : { followOn }),
  };
}

/** A precondition is missing (a rate limit, a quota): run again after `delayMs`. Costs no attempt. */
export const snooze = (delayMs: number, reason: string): Outcome => ({
  outcome: 'snooze',
  delayMs,
  reason,
});

/** Repeating cannot help (a malformed payload, a missing row): the task fails at once. */
export const poison = (reason: string): Outcome => ({ outcome: 'poison', reason });
