import type { KeyPlan } from './plan-workers.ts';
import { type Demand, lackingOf, type StoredState } from './snapshot.ts';
import { reasonOf } from './stored-rules.ts';
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
): KeyState[] {
  return demand.flatMap(({ stored, ...key }) => {
    const { made = 0, waitReason = null, cap = null } = plans.get(key.demandKey) ?? {};
    const { demandKey, entityId, entityName, scopeRepoId, pool, waiting } = key;
    const state = {
      waiting,
      unassigned: key.unassigned + made,
      cap,
      waitReason: waitReason ?? delayOf(key),
    };
    return isSame(state, stored)
      ? []
      : [{ demandKey, entityId, entityName, scopeRepoId, pool, ...state }];
  });
}

/** Why jobs wait longer than usual although nothing keeps workers from being made for them. */
function delayOf(key: Omit<Demand, 'stored'>): WaitReason | null {
  const { doubt, waiting, unassigned } = key;
  if (doubt !== null)
    return doubt.type === 'capacity' ? 'no_capacity' : reasonOf({ ...doubt, type: doubt.type });
  return waiting - unassigned > lackingOf(key) ? 'unexplained_ends' : null;
}

const isSame = (state: StoredState, stored: StoredState | null): boolean =>
  stored !== null &&
  stored.waiting === state.waiting &&
  stored.unassigned === state.unassigned &&
  stored.cap === state.cap &&
  stored.waitReason === state.waitReason;
