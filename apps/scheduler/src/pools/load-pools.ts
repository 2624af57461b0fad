import { createHash } from 'node:crypto';
import { forgetFailuresOfChangedPools } from '@paddock/db/workers/failing-keys';
import {
  type CurrentPools,
  currentPoolsDocument,
  storePoolsDocument,
} from '@paddock/db/pools/pools-documents';
import { reconsiderJobs } from '@paddock/db/jobs/reconsider-jobs';
import type { Db } from '@paddock/db/schema/tables';
import { drainWorkers, UNFIT } from '@paddock/db/workers/worker-stops';
import { configFileToLoad } from '@paddock/domain/pools/config-file';
import { hasHooks } from '@paddock/domain/pools/pod-template';
import type { PoolsDocument } from '@paddock/domain/pools/pools-document';
import { stopTask, type WorkerOfTask } from '@paddock/domain/tasks/worker-tasks';
import type { Cluster } from '@paddock/kube/connect';
import { isTransient } from '@paddock/kube/errors';
import { tryPool } from '@paddock/kube/try-pool';
import { enqueue } from '@paddock/queue/enqueue';
import { createFileReading } from '@paddock/runtime/file-reading';
import { pause } from '@paddock/runtime/pause';
import { readYamlFile } from '@paddock/runtime/yaml-file';
import type { SchedulerEvents } from '../events.ts';

export interface PoolsLoaderOptions {
  readonly db: Db;
  /** Its API server judges the pods of a changed file. */
  readonly cluster: Cluster;
  /** The configuration file. `followKeys` reads its Apps. */
  readonly path: string;
  readonly refreshMs: number;
  /** Age of the oldest unserved jobs that are reconsidered when the pools change. */
  readonly reconsiderHours: number;
  readonly events: Pick<
    SchedulerEvents,
    | 'poolsInForce'
    | 'jobsReconsidered'
    | 'unfitStopped'
    | 'poolsNotLoaded'
    | 'fileRefused'
    | 'fileAccepted'
  >;
}

/**
 * The checks that reconsider jobs, counted from the one that found the version in force. Ingress
 * uses the old pools until its next check and writes a little later. By the second check after the
 * change, all such jobs are stored.
 */
const RECONSIDER_AT = [0, 2];

/** Retry time while no pools are loaded: until then ingress takes no delivery. */
const RETRY_MS = 1_000;

/**
 * Puts the pools of the configuration file in force. A replica stores its file's pools once after
 * each change of that file, its start included, and again if PostgreSQL has lost them. It never
 * overrules another replica's: the file loaded last is in force, and one that comes here later than
 * there is not loaded again. Each replica moves the waiting and unserved jobs to the pools in force,
 * even if another replica loaded them.
 */
export function createPoolsLoader({
  db,
  cluster,
  path,
  refreshMs,
  reconsiderHours,
  events,
}: PoolsLoaderOptions) {
  const file = createFileReading<PoolsDocument>({
    read: async (readFile, problems) => {
      const { value, problems: found } = readYamlFile(path, configFileToLoad, readFile);
      problems.push(...found);
      if (value === undefined || found.length > 0) return undefined;
      const { pools, entities } = value;
      for (const pool of pools) {
        const failure = await tryPool(cluster, pool);
        if (failure?.kind === 'invalid')
          problems.push(
            `${path}: the cluster takes no pod of the pool ${pool.name}: ${failure.message}`,
          );
        // It would not answer for the others either, and each creation has its own answer.
        else if (failure !== undefined && isTransient(failure)) break;
      }
      return { pools, entities };
    },
    onRefused: events.fileRefused,
    onAccepted: events.fileAccepted,
  });
  let toStore: PoolsDocument | undefined;
  /** What this replica's file says, and its version, as they were stored last. */
  let stored: { readonly content: PoolsDocument; readonly version: number } | undefined;
  /** The version in force, how many checks have found it after the first, and how many moved jobs. */
  let inForce: { readonly version: number; looks: number; reconsidered: number } | undefined;
  let hookNamespaces: readonly string[] = [];

  /** Stores the file's pools if they are new. Returns those in force. */
  async function storeFile(): Promise<CurrentPools | undefined> {
    toStore = (await file.look()) ?? toStore;
    if (toStore !== undefined) {
      const given = { content: toStore, digest: digestOf(toStore), after: stored?.version };
      stored = { content: toStore, version: await storePoolsDocument(db, given) };
    }
    toStore = undefined;
    const newest = await currentPoolsDocument(db);
    if (stored === undefined || (newest?.version ?? 0) >= stored.version) return newest;
    // PostgreSQL has lost it, as a standby that was behind. The file will not change for that.
    toStore = stored.content;
    return storeFile();
  }

  /** Stores the file's pools if they are new, and moves jobs if those in force have changed. */
  async function once(): Promise<void> {
    const newest = await storeFile();
    if (newest === undefined) return;
    const { version, document } = newest;
    hookNamespaces = document.pools
      .filter(({ template }) => hasHooks(template))
      .map(({ namespace }) => namespace);
    if (inForce?.version === version) inForce.looks++;
    else {
      inForce = { version, looks: 0, reconsidered: 0 };
      events.poolsInForce(version);
      await forgetFailuresOfChangedPools(db);
    }
    // Every process reconsiders, also at its start: another may have died before it was done.
    const nextAt = RECONSIDER_AT[inForce.reconsidered];
    if (nextAt === undefined || inForce.looks < nextAt) return;
    events.unfitStopped(await stopUnfit(db));
    events.jobsReconsidered(version, await reconsiderJobs(db, newest, reconsiderHours));
    inForce.reconsidered++;
  }

  return {
    once,
    run: async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) {
        await once().catch(events.poolsNotLoaded);
        await pause(inForce === undefined ? Math.min(RETRY_MS, refreshMs) : refreshMs, signal);
      }
    },
    /** Of the pools in force whose runners make objects of their own. */
    hookNamespaces: () => hookNamespaces,
    /** Why the current file is refused, as a sentence for people, or undefined. */
    refusal: () => {
      const why = file.refusal();
      return why === undefined
        ? undefined
        : `the configuration file is refused, the pools loaded before stay in force: ${why}`;
    },
  };
}

/** They would count as supply of jobs that they never get. */
const stopUnfit = (db: Db): Promise<readonly WorkerOfTask[]> =>
  db.transaction().execute(async (trx) => {
    const workers = await drainWorkers(trx, UNFIT);
    await enqueue(trx, workers.map(stopTask));
    return workers;
  });

const digestOf = (content: PoolsDocument): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('hex');
