import type { KeyPlan } from './plan-workers.ts';
import { type Demand, lackingOf, type StoredState } from './snapshot.ts';
import { failureClass } from './failure-classes.ts';
import type { WaitReason } from './wait-reasons.ts';

/** A row of `demand_keys`: a pass' findings and plan for a key. */
export interface KeyState extends StoredState {
  readonly demandKey: number;
  readonly entityId: number;
  readonly entityName: string;
  readonly scopeRepoId: number;
  readonly pool: string;
}

/** The news about keys that is not stored yet. */
export function keyStates(
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
