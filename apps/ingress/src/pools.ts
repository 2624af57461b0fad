import { type CurrentPools, currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import type { Db } from '@paddock/db/schema/tables';
import { loop } from '@paddock/runtime/loop';

/** No delivery can be judged, because this process has read no pools document yet. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
}

/** The time between two attempts while no document is known, and so no delivery can be taken. */
const RETRY_MS = 500;

/**
 * Follows the newest pools document in the database, which the scheduler loads for all replicas.
 */
export function createPools({
  db,
  refreshMs,
  onChange,
  onError,
}: {
  db: Db;
  refreshMs: number;
  onChange: (version: number) => void;
  onError: (error: unknown) => void;
}) {
  let current: CurrentPools | undefined;

  /** Reads the document in force. Rejects if PostgreSQL does. */
  async function once(): Promise<void> {
    const newest = await currentPoolsDocument(db);
    if (newest === undefined || newest.version === current?.version) return;
    current = newest;
    onChange(newest.version);
  }

  return {
    /** Undefined until the first read. */
    current: () => current,
    /** Throws NotReady until the first read. */
    inForce(): CurrentPools {
      if (current !== undefined) return current;
      throw new NotReady(
        'No pools document is known: the scheduler has loaded none, or PostgreSQL was never reached since the start.',
      );
    },
    once,
    run: (signal: AbortSignal) =>
      loop(
        once,
        {
          intervalMs: () => Math.min(refreshMs, current === undefined ? RETRY_MS : Infinity),
          onError,
        },
        signal,
      ),
  };
}
