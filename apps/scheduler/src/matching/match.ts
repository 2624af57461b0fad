import type { MatchingSettings } from '@paddock/db/matching/matching-rules';
import { lockMatching, type MatchingLimits } from '@paddock/db/matching/matching-lock';
import { matchDemand } from '@paddock/db/matching/match-demand';
import type { Database } from '@paddock/db/schema/tables';
import type { UnservedKey } from '@paddock/db/matching/unserved-keys';
import { enqueue } from '@paddock/queue/enqueue';
import type { Kysely } from 'kysely';
import { lookUpAccessTask } from '@paddock/domain/tasks/key-tasks';
import { provisionTask, stopTask } from '@paddock/domain/tasks/worker-tasks';

export interface Matched {
  readonly reserved: number;
  readonly ended: number;
  /** Workers that waiting jobs still lack; `demand_keys` says why. */
  readonly lacking: number;
  /** Registered workers that are to end because nobody wants them, or for their age. */
  readonly retired: number;
  /** Workers that were to end and are wanted again. */
  readonly takenBack: number;
  /** Keys for which no more are made for a while, because GitHub gives their workers no job. */
  readonly unserved: readonly UnservedKey[];
  /** The pass made as many as it may: the next one finds what is left over. */
  readonly hasMore: boolean;
  /** In how many milliseconds the first pause of something that holds workers back is over; null: nothing pauses. */
  readonly nextPauseEndMs: number | null;
  /** Something is away that probes can tell to be back. */
  readonly hasProbed: boolean;
  /** Pools of the workers that were reserved, each as often as it got one. */
  readonly pools: readonly string[];
}

/** A matcher that stands still with the lock is cut off before those who wait for it give up. */
const LIMITS: MatchingLimits = { lockTimeoutMs: 10_000, statementTimeoutMs: 15_000, idleTimeoutMs: 8_000 };

/**
 * One pass of matching demand with supply: gives back reservations that are wanted no more, retires workers that are, reserves those that
 * waiting jobs lack, and enqueues the making or the end of each in the same transaction. Nothing outside of PostgreSQL is called. One pass at a time runs in an
 * environment, however many replicas call (C5). Throws what PostgreSQL throws; nothing is kept then.
 */
export async function matchOnce(db: Kysely<Database>, settings: MatchingSettings, limits: MatchingLimits = LIMITS): Promise<Matched> {
  return db
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (trx) => {
      await lockMatching(trx, limits);
      const matched = await matchDemand(trx, settings);
      const { ended, retired, takenBack, reserved, unserved, lacking, hasMore, nextPauseEndMs, hasProbed } = matched;
      await enqueue(trx, [
        ...unserved.filter(({ rounds }) => rounds === 1).map(({ demandKey }) => lookUpAccessTask(demandKey)),
        ...[...reserved, ...takenBack.filter(({ hasPod }) => !hasPod)].map(provisionTask),
        ...retired.map(({ podName }) => stopTask(podName)),
      ]);
      return {
        reserved: reserved.length,
        ended: ended.length,
        retired: retired.length,
        takenBack: takenBack.length,
        unserved,
        lacking,
        hasMore,
        nextPauseEndMs,
        hasProbed,
        pools: reserved.map(({ pool }) => pool),
      };
    });
}
