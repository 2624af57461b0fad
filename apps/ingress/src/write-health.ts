/** Whether deliveries can be written, as the newest batch has shown. */
export interface WriteHealth {
  failed(error: unknown): void;
  /** A batch was written, or what has gone wrong is known better now. */
  forget(): void;
  /** Why not, or undefined. */
  whyNot(): string | undefined;
}

/**
 * A failure counts for this time only: a replica that is not ready gets no deliveries, and would never find out that they can be written
 * again. As long as a sender is told to wait after a 503, in milliseconds.
 */
const REMEMBERED_MS = 10_000;

/** What a look at the database cannot tell: tables that somebody has locked, a disk that is full or slow. `now` in milliseconds. */
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
