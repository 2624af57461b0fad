import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import { saveAppIds } from '@paddock/db/instance';
import { findUnknownWarmScopes } from '@paddock/db/matching/reserve-workers';
import { confirmOutages, type Reaches } from '@paddock/db/outages';
import type { Db } from '@paddock/db/schema/tables';
import { findForgottenWorkers } from '@paddock/db/workers/workers';
import { enqueue } from '@paddock/queue/enqueue';
import { loop, type Wake } from '@paddock/runtime/loop';
import { pause } from '@paddock/runtime/pause';
import type { SchedulerEvents } from '../events.ts';
import type { PodsSync } from '../following/sync-pods.ts';
import { matchOnce } from './match.ts';
import { WORKER_TASK, provisionTask } from '@paddock/domain/tasks/worker-tasks';

export interface Matching {
  readonly db: Db;
  /** Rings when there may be new demand or freed capacity. */
  readonly wake: Wake;
  readonly tickMs: number;
  readonly forgottenAfterMs: number;
  readonly settings: MatchingSettings;
  readonly events: SchedulerEvents;
  readonly reach: Reaches;
  readonly pods: Pick<PodsSync, 'before'>;
}

/**
 * Matches demand with supply whenever `wake` says that something changed, when a pause ends
 * that holds workers back, and every `tickMs` in any case.
 */
export async function runMatching(parts: Matching, signal: AbortSignal): Promise<void> {
  const { db, wake, tickMs, forgottenAfterMs, settings, events, reach, pods } = parts;
  let nextLookMs = tickMs;
  let storedApps: readonly number[] | undefined;
  const match = async (): Promise<void> => {
    nextLookMs = Math.min(tickMs, AFTER_FAILURE_MS);
    let tookMs = 0;
    const matched = await pods.before(async (mayMake) => {
      const began = performance.now();
      const pass = await matchOnce(db, mayMake ? settings : { ...settings, most: 0 });
      tookMs = performance.now() - began;
      return mayMake ? pass : { ...pass, hasMore: false };
    }, signal);
    events.matched(matched, tookMs / 1_000);
    await confirmOutages(db, reach, matched.away);
    const { appIds } = settings;
    if (storedApps !== appIds) await saveAppIds(db, appIds);
    storedApps = appIds;
    nextLookMs = tickMs;
    if (matched.hasMore) return wake.ring();
    events.warmScopesUnknown(matched.hasWarm ? await findUnknownWarmScopes(db, appIds) : []);
    await pause(Math.min(REST * tookMs, tickMs), signal);
    nextLookMs = Math.min(tickMs, matched.nextPauseEndMs ?? tickMs);
  };
  const reprovision = async (): Promise<void> =>
    events.reprovisioned(await reprovisionForgotten(db, forgottenAfterMs));
  await Promise.all([
    loop(match, { wake, intervalMs: () => nextLookMs, onError: events.matchFailed }, signal),
    loop(reprovision, { intervalMs: tickMs, onError: events.matchFailed }, signal),
  ]);
}

/**
 * After a pass the matcher rests for this many times its duration: a few milliseconds while little
 * waits. Under load every delivery asks for a pass, and those that ask during the rest share the
 * next one.
 */
const REST = 3;

/** A pass that failed has missed what woke it. */
const AFTER_FAILURE_MS = 2_000;

const MOST_FORGOTTEN = 250;

/**
 * Enqueues the provisioning of workers that wait for a pod and have no task left, as after the
 * fourth crash of an executor. Such a row would count as supply for ever, and its job would never
 * run. Returns their names.
 */
export async function reprovisionForgotten(db: Db, olderThanMs: number): Promise<string[]> {
  return db.transaction().execute(async (trx) => {
    const forgotten = await findForgottenWorkers(trx, {
      kind: WORKER_TASK.provisionWorker,
      olderThanMs,
      limit: MOST_FORGOTTEN,
    });
    await enqueue(trx, forgotten.map(provisionTask));
    return forgotten.map(({ podName }) => podName);
  });
}
