import type { WhyNotReady } from '@paddock/db/connection/readiness';

/**
 * How long a failure counts. A replica that is not ready gets no deliveries, so it would never
 * learn that it can write again. The same time as `retry-after` after a 503.
 */
const REMEMBERED_MS = 10_000;

/**
 * The newest batch shows what a query of the database cannot: a locked table, a full or slow disk.
 */
export function createReadiness({
  whyUnfit,
  hasPools,
  now = () => performance.now(),
}: {
  /** Why the database is not ready. */
  whyUnfit: WhyNotReady;
  hasPools: () => boolean;
  /** In milliseconds. */
  now?: () => number;
}) {
  let failure: { readonly at: number; readonly message: string } | undefined;
  return {
    /** Why no delivery can be taken now; undefined if one can. */
    whyNot: async (): Promise<string | undefined> => {
      const unfit = await whyUnfit();
      // This cause explains the failed writes, and its end will be seen here.
      if (unfit !== undefined) failure = undefined;
      if (unfit !== undefined) return unfit;
      if (!hasPools())
        return 'there is no pools document in the database yet: the scheduler loads it from its configuration file';
      return failure === undefined || now() - failure.at > REMEMBERED_MS
        ? undefined
        : `the newest deliveries could not be written and were refused with 503: ${failure.message}`;
    },
    /** The newest batch could not be written. */
    writeFailed(error: unknown): void {
      failure = { at: now(), message: error instanceof Error ? error.message : String(error) };
    },
    /** Drops the failure: a batch was written. */
    forget(): void {
      failure = undefined;
    },
  };
}
