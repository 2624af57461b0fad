import {
  type DemandTotals,
  forgetRestingKeys,
  saveKeyStates,
  sumUpDemand,
} from '@paddock/db/matching/demand';
import { lockMatching, lockPlanned, type MatchingLimits } from '@paddock/db/matching/matching-lock';
import { readSnapshot } from '@paddock/db/matching/read-snapshot';
import {
  giveBackWorkers,
  renewWarmWorkers,
  type SpareWorker,
  stopSpareWorkers,
  takeBackWorkers,
  type TakenBack,
} from '@paddock/db/matching/spare-workers';
import {
  markWarm,
  type ReservedWorker,
  reserveWarmWorkers,
  reserveWorkers,
} from '@paddock/db/matching/reserve-workers';
import { noteUnservedKeys, type UnservedKey } from '@paddock/db/workers/failing-keys';
import type { Db, Trx } from '@paddock/db/schema/tables';
import { type MatchingSettings, MOST_PER_PASS } from '@paddock/domain/matching/matching-settings';
import { leaveAlone, type PassPlan, planPass } from '@paddock/domain/matching/plan-pass';
import { provisionTask, stopTask } from '@paddock/domain/tasks/worker-tasks';
import { enqueue } from '@paddock/queue/enqueue';

/** The work of a pass, and the work that it leaves to the next. */
export interface Matched {
  /** Workers that it made: for waiting jobs, then those that are kept warm. */
  readonly reserved: readonly ReservedWorker[];
  /** Names of the reservations that it gave back. */
  readonly ended: readonly string[];
  /** Registered workers whose end it asked for. */
  readonly stopped: readonly SpareWorker[];
  /** Workers that were to end and serve again. */
  readonly takenBack: readonly TakenBack[];
  /** Keys for which no more are made for a while, because GitHub gives their workers no job. */
  readonly unserved: readonly UnservedKey[];
  /** Workers that waiting jobs still lack; `demand_keys` says why. */
  readonly lacking: number;
  /** It made as many as a pass may: the next one finds the rest. */
  readonly hasMore: boolean;
  /** The configuration keeps workers warm. */
  readonly hasWarm: boolean;
  /** Milliseconds until the first pause ends that holds workers back; null: nothing pauses. */
  readonly nextPauseEndMs: number | null;
  /** The services that rows of `outages` call away. */
  readonly away: readonly string[];
}

/** A pass that stands still with the lock is cut off before those that wait for it give up. */
const LIMITS: MatchingLimits = {
  lockTimeoutMs: 10_000,
  statementTimeoutMs: 15_000,
  idleTimeoutMs: 8_000,
};

/**
 * Matches demand with supply once, in a transaction of its own. It calls nothing outside of
 * PostgreSQL. Throws what PostgreSQL throws, and then keeps nothing.
 */
export const matchOnce = (db: Db, settings: MatchingSettings, limits = LIMITS): Promise<Matched> =>
  db
    .transaction()
    .setIsolationLevel('read committed')
    .execute((trx) => matchIn(trx, settings, limits));

/** The same in a READ COMMITTED transaction of the caller's. */
export async function matchIn(
  trx: Trx,
  settings: MatchingSettings,
  limits: MatchingLimits,
): Promise<Matched> {
  // 1. Lock. One pass at a time runs in an environment, however many replicas there are.
  await lockMatching(trx, limits);

  // 2. Leave if there is nothing to do. Finding that out costs a count of the waiting jobs.
  const totals = await sumUpDemand(trx);
  const { nextPauseEndMs, away, hasWarm } = totals;
  if (isIdle(totals)) return { ...NOTHING, nextPauseEndMs, away };

  // 3. Store what jobs and workers have shown since the last pass, and read one snapshot.
  const unserved = totals.hasBlamed ? await noteUnservedKeys(trx, settings.failureRules) : [];
  let snapshot = await readSnapshot(trx, totals, settings);

  // 4. Plan. Workers that another transaction writes stay as they are: plan again without them.
  let plan = planPass(snapshot, settings);
  for (
    let busy = await lockPlanned(trx, plan);
    busy.length > 0;
    busy = await lockPlanned(trx, plan)
  ) {
    snapshot = leaveAlone(snapshot, busy);
    plan = planPass(snapshot, settings);
  }

  // 5. Apply.
  const applied = await applyPlan(trx, plan, settings);
  if (totals.hasResting) await forgetRestingKeys(trx);
  const hasMore = applied.reserved.length >= (settings.most ?? MOST_PER_PASS);
  return { ...applied, unserved, lacking: plan.lacking, hasMore, hasWarm, nextPauseEndMs, away };
}

const isIdle = ({ keys, spare, ...has }: DemandTotals): boolean =>
  keys === 0 &&
  spare === 0 &&
  !has.hasReservations &&
  !has.hasWarm &&
  !has.hasResting &&
  !has.hasBlamed;

const NOTHING = {
  reserved: [],
  ended: [],
  stopped: [],
  takenBack: [],
  unserved: [],
  lacking: 0,
  hasMore: false,
  hasWarm: false,
} as const;

/** Writes the plan. Each worker that is made or has to end gets its task. */
async function applyPlan(
  trx: Trx,
  plan: PassPlan,
  settings: MatchingSettings,
): Promise<Pick<Matched, 'reserved' | 'ended' | 'stopped' | 'takenBack'>> {
  const { appIds } = settings;
  await giveBackWorkers(trx, plan.giveBack);
  const takenBack = await takeBackWorkers(trx, plan.takeBack);
  const forJobs = await reserveWorkers(trx, plan.make, appIds);
  const spare = await stopSpareWorkers(trx, plan.stop, settings);
  await markWarm(trx, plan.warm.mark);
  const stopped = [...spare, ...(await renewWarmWorkers(trx, plan.warm.renew))];
  const reserved = [...forJobs, ...(await reserveWarmWorkers(trx, plan.warm.make))];
  await saveKeyStates(trx, plan.states);
  await enqueue(trx, [
    ...[...reserved, ...takenBack.filter(({ hasPod }) => !hasPod)].map(provisionTask),
    ...stopped.map(stopTask),
  ]);
  return { reserved, ended: plan.giveBack, stopped, takenBack };
}
