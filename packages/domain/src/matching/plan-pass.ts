import { afterGivingBack, afterMaking, afterStopping, afterTakingBack } from './after-changes.ts';
import { MOST_PER_PASS } from './matching-settings.ts';
import { pickUnwanted, type Reservation } from './pick-unwanted.ts';
import {
  type HeldBack,
  type SpareStops,
  planSpareStops,
  planWarm,
  type WarmPlan,
} from './plan-spare.ts';
import { planMaking, findRivals, type KeyPlan } from './plan-workers.ts';
import { capsOf } from './caps.ts';
import {
  lackingOf,
  type Returnable,
  type Snapshot,
  type WorkersToMake,
  type Demand,
  type StoredState,
} from './snapshot.ts';
import { rulesOf } from './stored-rules.ts';
import { failureClass } from './failure-classes.ts';
import type { WaitReason } from './wait-reasons.ts';

/** The changes of a pass. Named workers must be unchanged since the snapshot. */
export interface PassPlan {
  /** Names of workers that were to end and serve again. */
  readonly takeBack: readonly string[];
  /** Names of reservations that end. */
  readonly giveBack: readonly string[];
  /** Workers for waiting jobs. */
  readonly make: readonly WorkersToMake[];
  /** Registered workers whose end is asked for; the oldest of each key go. */
  readonly stop: readonly SpareStops[];
  readonly warm: WarmPlan;
  /** The news for `demand_keys`. */
  readonly states: readonly KeyState[];
  /** How many workers the waiting jobs still lack. */
  readonly lacking: number;
}

/**
 * Plans one pass. Each step begins with what the steps before it leave: a freed place is seen at
 * once.
 */
export function planPass(
  snapshot: Snapshot,
  { most = MOST_PER_PASS }: { most?: number },
): PassPlan {
  const warm = new Map(snapshot.warm.map(({ demandKey, wanted }) => [demandKey, wanted]));

  // 1. Workers that were to end serve the jobs that have come since.
  const returning = pickReturning(snapshot);
  const served = afterTakingBack(snapshot, returning);

  // 2. Reservations that became too many go back.
  const unwanted = pickUnwanted(served.reservations, served.live, { rules: rulesOf(served), warm });
  const freed = afterGivingBack(served, unwanted);

  // 3. Waiting jobs get workers, as far as there is room.
  const { make, plans } = planMaking(freed, withLacking(freed), most);
  const made = afterMaking(freed, make);

  // 4. Workers that neither jobs nor the configuration want are stopped.
  const heldBack = heldBackBy(freed, plans);
  const stops = planSpareStops({ ...made, keys: made.spare, warm, heldBack, rules: rulesOf(made) });
  const gone = pickReservations(made.reservations, stops);
  const stop = withoutGone(stops, gone);
  const left = afterStopping(afterGivingBack(made, gone), stop);

  // 5. The configuration gets its warm workers from the rest.
  return {
    takeBack: returning.map(({ podName }) => podName),
    giveBack: [...unwanted, ...gone].map(({ podName }) => podName),
    make,
    stop,
    warm: planWarm(left, heldBack, most - sumOf(make)),
    states: keyStates(freed.demand, plans, {
      away: rulesOf(freed).away,
      reserved: new Set(freed.reservations.map(({ demandKey }) => demandKey)),
    }),
    lacking: sumOf(freed.demand.map((key) => ({ count: lackingOf(key) }))) - sumOf(make),
  };
}

/**
 * The keys whose jobs may compete for the room of their entity: a plan needs to know the age of
 * each of these jobs. Assumes that all reservations go back, since that leaves the most room to
 * compete for.
 */
export function findSnapshotRivals(
  snapshot: Omit<Snapshot, 'jobTimes'>,
): { demandKey: number; count: number }[] {
  const ofEntities = Map.groupBy(snapshot.demand, ({ entityId }) => entityId);
  if (ofEntities.size === snapshot.demand.length) return [];
  const roomiest = afterGivingBack({ ...snapshot, jobTimes: new Map() }, snapshot.reservations);
  return findRivals(capsOf(withLacking(roomiest), roomiest.live, rulesOf(roomiest)));
}

/** The snapshot without workers that another transaction is writing: they stay as they are. */
export function leaveAlone(snapshot: Snapshot, podNames: readonly string[]): Snapshot {
  const busy = new Set(podNames);
  const isFree = ({ podName }: { podName: string }): boolean => !busy.has(podName);
  return {
    ...snapshot,
    reservations: snapshot.reservations.filter(isFree),
    returnable: snapshot.returnable.filter(isFree),
    warm: snapshot.warm.map((key) => ({
      ...key,
      aged: key.aged.filter((podName) => !busy.has(podName)),
    })),
  };
}

const withLacking = ({ demand }: Snapshot) =>
  demand.map((key) => Object.assign({ lacking: lackingOf(key) }, key));

const sumOf = (counts: readonly { count: number }[]): number =>
  counts.reduce((sum, { count }) => sum + count, 0);

/** Of each key the newest, as many as its jobs lack. */
function pickReturning({ demand, returnable }: Snapshot): Returnable[] {
  const lacking = new Map(demand.map((key) => [key.demandKey, lackingOf(key)]));
  const ofKeys = Map.groupBy(returnable, ({ demandKey }) => demandKey);
  return [...ofKeys].flatMap(([demandKey, newestFirst]) =>
    newestFirst.slice(0, lacking.get(demandKey) ?? 0),
  );
}

const heldBackBy = ({ demand }: Snapshot, plans: ReadonlyMap<number, KeyPlan>): HeldBack[] =>
  demand.flatMap(({ demandKey, entityId, pool }) => {
    const { waitReason: reason = null, heldBack: count = 0 } = plans.get(demandKey) ?? {};
    return reason === null ? [] : [{ entityId, pool, reason, count }];
  });

/** The newest reservations of each key with spare workers: they go at once. */
function pickReservations(
  newestFirst: readonly Reservation[],
  stops: readonly SpareStops[],
): Reservation[] {
  const ofKeys = Map.groupBy(newestFirst, ({ demandKey }) => demandKey);
  return stops.flatMap(({ demandKey, count }) => (ofKeys.get(demandKey) ?? []).slice(0, count));
}

function withoutGone(stops: readonly SpareStops[], gone: readonly Reservation[]): SpareStops[] {
  const ofKeys = Map.groupBy(gone, ({ demandKey }) => demandKey);
  return stops
    .map(({ demandKey, count, inTheWay }) => {
      const fewer = ofKeys.get(demandKey)?.length ?? 0;
      return { demandKey, count: count - fewer, inTheWay: Math.max(0, inTheWay - fewer) };
    })
    .filter(({ count }) => count > 0);
}

/** A row of `demand_keys`: a pass' findings and plan for a key. */
export interface KeyState extends StoredState {
  readonly demandKey: number;
  readonly entityId: number;
  readonly entityName: string;
  readonly scopeRepoId: number;
  readonly pool: string;
}

/** The news about keys that is not stored yet. */
function keyStates(
  demand: readonly Demand[],
  plans: ReadonlyMap<number, KeyPlan>,
  { away, reserved }: { away: WaitReason | undefined; reserved: ReadonlySet<number> },
): KeyState[] {
  return demand.flatMap(({ stored, ...key }) => {
    const { made = 0, waitReason = null, cap = null } = plans.get(key.demandKey) ?? {};
    const { demandKey, entityId, entityName, scopeRepoId, pool, waiting } = key;
    const state = {
      waiting,
      unassigned: key.unassigned + made,
      cap,
      waitReason: waitReason ?? delayOf(key, reserved.has(key.demandKey) ? away : undefined),
    };
    return isSame(state, stored)
      ? []
      : [{ demandKey, entityId, entityName, scopeRepoId, pool, ...state }];
  });
}

/**
 * Why jobs wait longer than usual although nothing keeps workers from being made for them. `away`:
 * workers of the key wait for a service.
 */
function delayOf(key: Omit<Demand, 'stored'>, away: WaitReason | undefined): WaitReason | null {
  if (away !== undefined) return away;
  if (key.failureClass !== null) return failureClass(key.failureClass).reason;
  if (key.lacksNodes) return 'no_capacity';
  return key.waiting - key.unassigned > lackingOf(key) ? 'unexplained_ends' : null;
}

const isSame = (state: StoredState, stored: StoredState | null): boolean =>
  stored !== null &&
  stored.waiting === state.waiting &&
  stored.unassigned === state.unassigned &&
  stored.cap === state.cap &&
  stored.waitReason === state.waitReason;
