/** Whether deliveries can be written, as the newest batch has shown. */
export interface WriteHealth {
  written(): void;
  failed(error: unknown): void;
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
    written: () => {
      failure = undefined;
    },
    failed: (error) => {
      failure = { at: now(), message: error instanceof Error ? error.message : String(error) };
    },
    whyNot: () =>
      failure === undefined || now() - failure.at > REMEMBERED_MS
        ? undefined
        : `the newest deliveries could not be written and were refused with 503: ${failure.message}`,
  };
}
