/** Whether deliveries can be written, judged by the newest batch. */
export interface WriteHealth {
  failed(error: unknown): void;
  /** Drops the failure: a batch was written, or a better cause is known. */
  forget(): void;
  /** Why deliveries cannot be written; undefined if they can. */
  whyNot(): string | undefined;
}

/**
 * How long a failure counts. A replica that is not ready gets no deliveries, so it would never
 * learn that it can write again. The same time as `retry-after` after a 503.
 */
const REMEMBERED_MS = 10_000;

/**
 * Finds what a query of readiness cannot find: a locked table, a full or slow disk. `now` is in
 * milliseconds.
 */
export function createWriteHealth(now: () => number = () => performance.now()): WriteHealth {
  let failure: { readonly at: number; readonly message: string } | undefined;
  return {
    failed: (error) => {
      failure = { at: now(), message: error instanceof Error ? error.message : String(error) };
    },
    forget: () => {
      failure = undefined;
    },
    whyNot: () =>
      failure === undefined || now() - failure.at > REMEMBERED_MS
        ? undefined
        : `the newest deliveries could not be written and were refused with 503: ${failure.message}`,
  };
}
