import type { Service } from '@paddock/runtime/reach';
import type { NewTask } from './enqueue.ts';

/** A task as its handler sees it. */
export interface Task {
  /** Also the id of the operation that people see. */
  readonly id: string;
  readonly kind: string;
  readonly subject: { readonly type: string; readonly id: string; readonly name: string | null };
  readonly payload: object;
  /** 1 on the first run. A run that snoozed, and one whose executor died, does not count. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly crashes: number;
  readonly deliveryGuid: string | null;
  /** Rises with every claim: a holder with a lower fence has lost the task. */
  readonly fence: number;
  /**
   * The share of the claim that is left, from 1 down to 0, by the monotonic clock since the last
   * renewal. At a third the executor interrupts the run. An interrupted one has none left. Check it
   * before an outside call that must not happen twice.
   */
  claimLeft(): number;
}

/** A handler's result. A thrown error is no outcome: it means "try again later". */
export type Outcome =
  | { readonly outcome: 'done'; readonly output: unknown; readonly followOn: readonly NewTask[] }
  | { readonly outcome: 'snooze'; readonly delayMs: number; readonly reason: string }
  | { readonly outcome: 'poison'; readonly reason: string };

/**
 * The work is done. The operation keeps `output` (JSON, ids only). The transaction that settles
 * this task enqueues `followOn`: both or neither.
 */
export const done = (output?: unknown, followOn: readonly NewTask[] = []): Outcome => ({
  outcome: 'done',
  output,
  followOn,
});

/** A precondition is missing (a rate limit, a quota): run again after `delayMs`. Costs no attempt. */
export const snooze = (delayMs: number, reason: string): Outcome => ({
  outcome: 'snooze',
  delayMs,
  reason,
});

/** Repeating cannot help (a malformed payload, a missing row): the task fails at once. */
export const poison = (reason: string): Outcome => ({ outcome: 'poison', reason });

/**
 * Does the work of one task. It may run more than once for one task, so it starts from the top
 * every time. The signal aborts at the timeout, when the claim is lost and when the process stops.
 * What the handler returns after that is ignored.
 */
export type Handler = (task: Task, signal: AbortSignal) => Promise<Outcome>;

export interface Kind {
  readonly handler: Handler;
  /** How many tasks of this kind run at once in one process, before scaling. */
  readonly slots: number;
  /** What its handler calls. While one of them is away from this process, none is claimed. */
  readonly needs?: readonly Service[];
  /** Longest run in milliseconds; the executor's default (5 min) if absent. */
  readonly timeoutMs?: number;
}

/** The kinds that a process runs, by name. Tasks of other kinds stay queued. */
export type Kinds = Readonly<Record<string, Kind>>;
