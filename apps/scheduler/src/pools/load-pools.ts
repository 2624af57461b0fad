import { createHash } from 'node:crypto';
import { forgetFailuresOfChangedPools } from '@paddock/db/workers/failing-keys';
import { currentPoolsDocument, storePoolsDocument } from '@paddock/db/pools/pools-documents';
import { reconsiderJobs } from '@paddock/db/jobs/reconsider-jobs';
import type { Database } from '@paddock/db/schema/tables';
import type { PoolsDocument } from '@paddock/domain/pools/pools-document';
import { pause } from '@paddock/runtime/pause';
import type { Kysely } from 'kysely';
import type { SchedulerEvents } from '../events.ts';
import type { PoolsFile } from './pools-file.ts';

export interface PoolsLoader {
  /**
   * Checks this replica's file, stores its pools if they are new, and moves jobs if the pools in
   * force have changed.
   */
  once(): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

export interface PoolsLoaderOptions {
  readonly db: Kysely<Database>;
  readonly file: Pick<PoolsFile, 'look'>;
  readonly refreshMs: number;
  /** Age of the oldest unserved jobs that are reconsidered when the pools change. */
  readonly reconsiderHours: number;
  readonly events: Pick<SchedulerEvents, 'poolsInForce' | 'jobsReconsidered' | 'poolsNotLoaded'>;
}

/**
 * Ingress uses the old pools until its next check and writes a little later. By the second check
 * after the change, all such jobs are stored.
 */
const LOOKS_UNTIL_ALL_FOLLOW = 2;

/** Retry time while no pools are loaded: until then ingress takes no delivery. */
const RETRY_MS = 1_000;

/**
 * Puts the pools of the configuration file in force. A replica stores its file's pools once after
 * each change of that file, its start included. It never overrules another replica's: the file
 * loaded last is in force. Each replica moves the waiting and unserved jobs to the pools in force,
 * even if another replica loaded them.
 */
export function createPoolsLoader({
  db,
  file,
  refreshMs,
  reconsiderHours,
  events,
}: PoolsLoaderOptions): PoolsLoader {
  let toStore: PoolsDocument | undefined;
  let version: number | undefined;
  /**
   * Checks since the one that found the version in force, and the check that last reconsidered
   * jobs.
   */
  let looks = 0;
  let reconsideredAt: number | undefined;

  async function once(): Promise<void> {
    toStore = (await file.look()) ?? toStore;
    if (toStore !== undefined)
      await storePoolsDocument(db, { content: toStore, digest: digestOf(toStore) });
    toStore = undefined;
    const newest = await currentPoolsDocument(db);
    if (newest === undefined) return;
    looks++;
    if (newest.version !== version) {
      version = newest.version;
      looks = 0;
      reconsideredAt = undefined;
      events.poolsInForce(version);
      await forgetFailuresOfChangedPools(db);
    }
    // Every process reconsiders, also at its start: another may have died before it was done.
    const isDue =
      reconsideredAt === undefined ||
      (reconsideredAt < LOOKS_UNTIL_ALL_FOLLOW && looks >= LOOKS_UNTIL_ALL_FOLLOW);
    if (!isDue) return;
    events.jobsReconsidered(newest.version, await reconsiderJobs(db, newest, reconsiderHours));
    reconsideredAt = looks;
  }

  return {
    once,
    run: async (signal) => {
      while (!signal.aborted) {
        await once().catch(events.poolsNotLoaded);
        await pause(version === undefined ? Math.min(RETRY_MS, refreshMs) : refreshMs, signal);
      }
    },
  };
}

const digestOf = (content: PoolsDocument): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('hex');
