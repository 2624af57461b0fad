import type { MatchingRules, PoolRule } from '../matching/matching-rules.ts';
import { linux } from './snapshot.scene.ts';

/**
 * The rules for the entity acme and the pool `linux`, without any cap; `given` has the differences.
 */
export const rulesWith = (
  given: Partial<MatchingRules> & { pool?: Partial<PoolRule>; cap?: number } = {},
): MatchingRules => ({
  pools: new Map([['linux', { ...linux(), ...given.pool }]]),
  entities: new Map([['acme', { cap: given.cap ?? null, weight: 1 }]]),
  pins: new Map(),
  common: undefined,
  listed: new Set(),
  environmentStopped: false,
  stoppedEntities: new Set(),
  barred: new Map(),
  budgets: new Map(),
  usualBudget: 180,
  away: undefined,
  told: { entities: new Map(), repositories: new Map() },
  failing: new Map(),
  suspected: () => false,
  nodeless: new Map(),
  ...given,
});
