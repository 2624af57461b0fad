import type { Handler, Task } from './kind.ts';
import type { Outcome } from './outcome.ts';

/** Why the executor gave up a run before its handler had ended. */
export type Interruption = 'timeout' | 'claim-lost' | 'stopping';

export type RunResult =
  | { readonly ended: 'outcome'; readonly outcome: Outcome }
  | { readonly ended: 'thrown'; readonly thrown: unknown }
  | { readonly ended: 'interrupted'; readonly by: Interruption };

/** A run. `interrupt` aborts the handler's signal and ends the run, even if the handler goes on. */
export interface Run {
  readonly result: Promise<RunResult>;
  interrupt(by: Interruption): void;
}

/** Starts the handler. `result` never rejects. */
export function runHandler(handler: Handler, task: Task, timeoutMs: number): Run {
  const controller = new AbortController();
  const { promise: result, resolve } = Promise.withResolvers<RunResult>();
  const timer = setTimeout(() => interrupt('timeout'), timeoutMs);
  // The first end counts.
  const end = (how: RunResult): void => {
    clearTimeout(timer);
    resolve(how);
  };
  const interrupt = (by: Interruption): void => {
    end({ ended: 'interrupted', by });
    controller.abort(new Error(`the run was interrupted: ${by}`));
  };
  void callHandler(handler, task, controller.signal).then(end);
  return { result, interrupt };
}

async function callHandler(handler: Handler, task: Task, signal: AbortSignal): Promise<RunResult> {
  try {
    return { ended: 'outcome', outcome: await handler(task, signal) };
  } catch (thrown) {
    return { ended: 'thrown', thrown };
  }
}
