import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Load, LoadResult } from './load-thread.ts';

/**
 * Delivers over HTTP, in a separate thread: other work of this process, such as reading logs, must
 * not delay a delivery.
 */
export interface LoadGenerator {
  /**
   * `onStart` is called when everything is signed and connected, just before the first delivery is
   * sent.
   */
  run(load: Load, onStart: () => Promise<void>): Promise<LoadResult>;
  close(): Promise<void>;
}

export function startLoadGenerator(): LoadGenerator {
  const thread = new Worker(new URL('load-thread.ts', import.meta.url));
  return {
    run: async (load, onStart) => {
      thread.postMessage(load, []);
      await once(thread, 'message');
      await onStart();
      thread.postMessage('start', []);
      const [result] = (await once(thread, 'message')) as [LoadResult];
      return result;
    },
    close: async () => void (await thread.terminate()),
  };
}
