import type { Handler, Outcome, Task } from './kind.ts';

/** Why the executor gave up a run before its handler had ended, or begun: it has waited too long. */
export type Interruption = 'timeout' | 'claim-lost' | 'stopping' | 'no-slot';

export type RunResult =
  | { readonly ended: 'outcome'; readonly outcome: Outcome }
  | { readonly ended: 'thrown'; readonly thrown: unknown }
  | { readonly ended: 'interrupted'; readonly by: Interruption };

/**
 * A run. `begin` calls the handler, unless the run was interrupted before. `interrupt` aborts the
 * handler's signal and ends the run, even if the handler goes on. `result` never rejects.
 */
export interface Run {
  readonly result: Promise<RunResult>;
  begin(): void;
  interrupt(by: Interruption): void;
}

export function runOf(handler: Handler, task: Task, timeoutMs: number): Run {
  const controller = new AbortController();
  const { promise: result, resolve } = Promise.withResolvers<RunResult>();
  let timer: NodeJS.Timeout | undefined;
  // The first end counts.
  const end = (how: RunResult): void => {
    clearTimeout(timer);
    resolve(how);
  };
  const interrupt = (by: Interruption): void => {
    end({ ended: 'interrupted', by });
    controller.abort(new Error(`the run was interrupted: ${by}`));
  };
  return {
    result,
    begin() {
      if (controller.signal.aborted) return;
      timer = setTimeout(() => interrupt('timeout'), timeoutMs);
      void callHandler(handler, task, controller.signal).then(end);
    },
    interrupt,
  };
}

async function callHandler(handler: Handler, task: Task, signal: AbortSignal): Promise<RunResult> {
  try {
    return { ended: 'outcome', outcome: await handler(task, signal) };
  } catch (thrown) {
    return { ended: 'thrown', thrown };
  }
}
