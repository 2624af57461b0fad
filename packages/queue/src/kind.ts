import type { Service } from '@paddock/runtime/reach';
import type { Outcome } from './outcome.ts';
import type { Task } from './task.ts';

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
