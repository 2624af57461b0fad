import { createHash } from 'node:crypto';
import { currentPoolsDocument, storePoolsDocument } from '@paddock/db/pools/pools-documents';
import { reconsiderJobs } from '@paddock/db/jobs/reconsider-jobs';
import type { Database } from '@paddock/db/schema/tables';
import type { PoolsDocument } from '@paddock/domain/pools/pools-document';
import { pause } from '@paddock/runtime/pause';
import type { Kysely } from 'kysely';
import type { PoolsEvents } from './pools-events.ts';
import type { PoolsFile } from './pools-file.ts';

export interface PoolsLoader {
  /**
   * Looks at our file, stores its document if that is still to be done, and lets jobs follow a
   * change of the document in force.
   */
  once(): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

export interface PoolsLoaderOptions {
  readonly db: Kysely<Database>;
  readonly file: Pick<PoolsFile, 'look'>;
  readonly loadedBy: string;
  readonly refreshMs: number;
  /** How far back jobs that no pool served are looked at again when the pools have changed. */
  readonly reconsiderHours: number;
  readonly events: Pick<PoolsEvents, 'inForce' | 'jobsReconsidered' | 'notLoaded'>;
}

/**
 * Ingress judges by the pools of before until its next look, and writes what it judged last a
 * little later. By our second look after the one that found the change, all of that is there to be
 * reconsidered.
 */
const LOOKS_UNTIL_ALL_FOLLOW = 2;

/**
 * How long to wait before trying again while nothing is loaded: ingress takes no delivery before.
 */
const RETRY_MS = 1_000;

/**
 * Puts the pools of the configuration file in force. A replica stores its own file's document once
 * after each change of that file, its start included, and never because another one is in force:
 * replicas whose files differ do not contend, the file that was loaded last counts for all. Whoever
 * loaded it, the jobs that wait or that no pool served are placed by it.
 */
export function createPoolsLoader({ db, file, loadedBy, refreshMs, reconsiderHours, events }: PoolsLoaderOptions): PoolsLoader {
  let toStore: PoolsDocument | undefined;
  let version: number | undefined;
  /**
   * Looks since the one that found the version in force, and the look at which jobs were last
   * reconsidered by it.
   */
  let looks = 0;
  let reconsideredAt: number | undefined;

  async function once(): Promise<void> {
    toStore = (await file.look()) ?? toStore;
    if (toStore !== undefined) await storePoolsDocument(db, { content: toStore, digest: digestOf(toStore), loadedBy });
    toStore = undefined;
    const newest = await currentPoolsDocument(db);
    if (newest === undefined) return;
    looks++;
    if (newest.version !== version) {
      version = newest.version;
      looks = 0;
      reconsideredAt = undefined;
      events.inForce(version);
    }
    // Every process does it, also at its start: another that had begun may have died over it.
    const isDue = reconsideredAt === undefined || (reconsideredAt < LOOKS_UNTIL_ALL_FOLLOW && looks >= LOOKS_UNTIL_ALL_FOLLOW);
    if (!isDue) return;
    events.jobsReconsidered(newest.version, await reconsiderJobs(db, newest, reconsiderHours));
    reconsideredAt = looks;
  }

  return {
    once,
    run: async (signal) => {
      while (!signal.aborted) {
        await once().catch(events.notLoaded);
        await pause(version === undefined ? Math.min(RETRY_MS, refreshMs) : refreshMs, signal);
      }
    },
  };
}

const digestOf = (content: PoolsDocument): string => createHash('sha256').update(JSON.stringify(content)).digest('hex');
