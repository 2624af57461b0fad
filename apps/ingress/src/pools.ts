import { createHash } from 'node:crypto';
import { type CurrentPools, currentPoolsDocument, storePoolsDocument } from '@paddock/db/jobs/pools-documents';
import { reconsiderJobs } from '@paddock/db/jobs/reconsider-jobs';
import type { Database } from '@paddock/db/schema/tables';
import type { PoolsDocument } from '@paddock/domain/pools/pools-document';
import { pause } from '@paddock/runtime/pause';
import type { Kysely } from 'kysely';
import type { PoolsFile } from './pools-file.ts';

export interface Pools {
  /** Undefined until the document of our configuration file has been stored. */
  current(): CurrentPools | undefined;
  /**
   * Looks at our file, stores its document if that is still to be done, reads the one in force, which another replica may have loaded, and
   * acts on a change.
   */
  once(): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

export interface PoolsOptions {
  db: Kysely<Database>;
  /** The document of our configuration file at the start. */
  content: PoolsDocument;
  file: Pick<PoolsFile, 'look'>;
  loadedBy: string;
  refreshMs: number;
  /** How far back jobs that no pool served are looked at again when the pools have changed. */
  reconsiderHours: number;
  onChange: (version: number) => void;
  onReconsidered: (version: number, jobs: number) => void;
  onError: (error: unknown) => void;
}

/**
 * Another replica judges by the pools of before until its next look, and writes what it judged last a little later. By our second look
 * after the one that found the change, all of that is there to be reconsidered.
 */
const LOOKS_UNTIL_ALL_FOLLOW = 2;

/** How long to wait before trying again while nothing is loaded and no delivery can be taken. */
const RETRY_MS = 1_000;

/**
 * The pools that deliveries are judged by: the newest document in the database, so that all replicas judge alike. A replica stores its own
 * file's document once after each change of that file, its start included, and never because another one is in force: replicas whose files
 * differ do not contend, the file that was loaded last counts for all.
 */
export function createPools(options: PoolsOptions): Pools {
  const { db, file, loadedBy, refreshMs, reconsiderHours, onChange, onReconsidered, onError } = options;
  let toStore: PoolsDocument | undefined = options.content;
  let current: CurrentPools | undefined;
  /** Looks since the one that found the version in force, and the look at which jobs were last reconsidered by it. */
  let looks = 0;
  let reconsideredAt: number | undefined;

  async function once(): Promise<void> {
    toStore = (await file.look()) ?? toStore;
    if (toStore !== undefined) await storePoolsDocument(db, { content: toStore, digest: digestOf(toStore), loadedBy });
    toStore = undefined;
    const newest = await currentPoolsDocument(db);
    if (newest === undefined) return;
    looks++;
    if (newest.version !== current?.version) {
      current = newest;
      looks = 0;
      reconsideredAt = undefined;
      onChange(newest.version);
    }
    // Every process does it, also at its start: another that had begun may have died over it.
    const isDue = reconsideredAt === undefined || (reconsideredAt < LOOKS_UNTIL_ALL_FOLLOW && looks >= LOOKS_UNTIL_ALL_FOLLOW);
    if (!isDue) return;
    onReconsidered(newest.version, await reconsiderJobs(db, newest, reconsiderHours));
    reconsideredAt = looks;
  }

  return {
    current: () => current,
    once,
    run: async (signal) => {
      while (!signal.aborted) {
        await once().catch(onError);
        await pause(current === undefined ? Math.min(RETRY_MS, refreshMs) : refreshMs, signal);
      }
    },
  };
}

const digestOf = (content: PoolsDocument): string => createHash('sha256').update(JSON.stringify(content)).digest('hex');
