import type { WhyNotReady } from '@paddock/db/connection/wait-until-fit';
import { pause } from '@paddock/runtime/pause';
import type { Pools } from './pools.ts';
import type { WriteHealth } from './write-health.ts';

export interface ReadinessOptions {
  /** Of the database. */
  readonly whyNotReady: WhyNotReady;
  readonly pools: Pick<Pools, 'current'>;
  readonly writes: Pick<WriteHealth, 'whyNot' | 'forget'>;
  /** Longest time for PostgreSQL to answer, in milliseconds. */
  readonly timeoutMs: number;
}

/** Says why no delivery can be taken now, or undefined if it can. However many ask, PostgreSQL is asked one question at a time. */
export function createReadiness({ whyNotReady, pools, writes, timeoutMs }: ReadinessOptions): WhyNotReady {
  let asked: Promise<string | undefined> | undefined;

  return async () => {
    asked ??= whyNotReady().finally(() => {
      asked = undefined;
    });
    const answered = new AbortController();
    const silence = pause(timeoutMs, answered.signal).then(() => `PostgreSQL cannot be asked: it has not answered for ${timeoutMs} ms`);
    const unfit = await Promise.race([asked, silence]);
    answered.abort();
    if (unfit !== undefined) {
      // Whoever sees the cause sees its end as well.
      writes.forget();
      return unfit;
    }
    if (pools.current() === undefined) return 'the pools document has not been stored in the database yet';
    return writes.whyNot();
  };
}
