import { saysAway } from '@paddock/db/connection/errors';
import type { Task } from '@paddock/queue/task';
import { pause } from '@paddock/runtime/pause';
import { hasLease } from '../require-lease.ts';

const TRY_AGAIN_MS = 250;

/** A run of a task, as far as what it does depends on that. */
export interface Run {
  readonly task: Task;
  readonly signal: AbortSignal;
}

/**
 * Runs a statement again for as long as PostgreSQL is away and enough of the lease is left: what this run alone has in memory, a JIT config,
 * is not lost with a restart of a few seconds. The statement must be one that may have been done before. Throws what it throws otherwise.
 */
export async function tryWhileAway<T>({ task, signal }: Run, statement: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await statement();
    } catch (error) {
      if (!saysAway(error) || signal.aborted || !hasLease(task)) throw error;
      await pause(TRY_AGAIN_MS, signal);
    }
  }
}
