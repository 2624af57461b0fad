import type { LiveWorkers } from './share-room.ts';
import type { Reservation, Returnable, Snapshot, WorkersToMake } from './snapshot.ts';
import type { StoredRules } from './stored-rules.ts';

// Each step of a plan begins with the snapshot as the steps before it will have left it.

/** What happens to the workers of a key; the numbers are added. */
interface Change extends Omit<LiveWorkers, 'alive'> {
  readonly unassigned: number;
  readonly alive: number;
  readonly stopping: number;
}

export function afterTakingBack(before: Snapshot, workers: readonly Returnable[]): Snapshot {
  const names = new Set(workers.map(({ podName }) => podName));
  const reservations = before.reservations.map((one) => (names.has(one.podName) ? { ...one, stopping: false } : one));
  const changes = workers.map((worker) => ({ ...placeOf(worker), unassigned: 1, alive: 0, stopping: -1 }));
  return withChanges({ ...before, reservations }, changes);
}

export function afterGivingBack(before: Snapshot, gone: readonly Reservation[]): Snapshot {
  const names = new Set(gone.map(({ podName }) => podName));
  const reservations = before.reservations.filter(({ podName }) => !names.has(podName));
  const rules = withBudgets(
    before.rules,
    gone.map(({ installationId }) => [installationId, 1]),
  );
  const changes = gone.map((one) => ({
    ...placeOf(one),
    unassigned: one.stopping ? 0 : -1,
    alive: -1,
    stopping: one.stopping ? -1 : 0,
  }));
  return withChanges({ ...before, reservations, rules }, changes);
}

export function afterMaking(before: Snapshot, workers: readonly WorkersToMake[]): Snapshot {
  const rules = withBudgets(
    before.rules,
    workers.map(({ installationId, count }) => [installationId, -count]),
  );
  const changes = workers.map((one) => ({ ...placeOf(one), unassigned: one.count, alive: one.count, stopping: 0 }));
  return withChanges({ ...before, rules, made: [...before.made, ...workers] }, changes);
}

/** Of each key so many workers are asked to end. They count in every cap until they have. */
export function afterRetiring(before: Snapshot, counts: ReadonlyMap<number, number>): Snapshot {
  const changes = before.spare.flatMap((key) => {
    const count = counts.get(key.demandKey) ?? 0;
    return count === 0 ? [] : [{ ...placeOf(key), unassigned: -count, alive: 0, stopping: count }];
  });
  return withChanges(before, changes);
}

const placeOf = ({ demandKey, entityId, scopeRepoId, pool }: Omit<LiveWorkers, 'alive'>) => ({
  demandKey,
  entityId,
  scopeRepoId,
  pool,
});

function withChanges(before: Snapshot, changes: readonly Change[]): Snapshot {
  if (changes.length === 0) return before;
  const added = sumPerKey(changes, ({ unassigned }) => unassigned);
  const addedTo = ({ demandKey }: { demandKey: number }): number => added.get(demandKey) ?? 0;
  const counted = <K extends { demandKey: number; unassigned: number }>(keys: readonly K[]): K[] =>
    keys.map((key) => (added.has(key.demandKey) ? { ...key, unassigned: key.unassigned + addedTo(key) } : key));
  return {
    ...before,
    demand: counted(before.demand),
    reservations: counted(before.reservations),
    warm: counted(before.warm).map((key) => Object.assign({}, key, { marked: key.marked + Math.min(0, addedTo(key)) })),
    spare: before.spare.map((key) => Object.assign({}, key, { spare: key.spare + addedTo(key) })).filter(({ spare }) => spare > 0),
    live: withAdded(before.live, changes, ({ alive }) => alive),
    stopping: withAdded(before.stopping, changes, ({ stopping }) => stopping),
  };
}

function withAdded(workers: readonly LiveWorkers[], changes: readonly Change[], countOf: (change: Change) => number): LiveWorkers[] {
  const added = sumPerKey(changes, countOf);
  const known = new Set(workers.map(({ demandKey }) => demandKey));
  const places = new Map(changes.map((change) => [change.demandKey, placeOf(change)]));
  const fresh = [...places.values()].filter(({ demandKey }) => !known.has(demandKey)).map((place) => Object.assign({ alive: 0 }, place));
  return [...workers, ...fresh].map((one) => Object.assign({}, one, { alive: one.alive + (added.get(one.demandKey) ?? 0) }));
}

function sumPerKey(changes: readonly Change[], countOf: (change: Change) => number): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  for (const change of changes) sums.set(change.demandKey, (sums.get(change.demandKey) ?? 0) + countOf(change));
  return sums;
}

function withBudgets(rules: StoredRules, freed: readonly (readonly [installationId: number, count: number])[]): StoredRules {
  if (freed.length === 0) return rules;
  const budgets = { ...rules.budgets };
  for (const [id, count] of freed) {
    const { [id]: allowed = rules.usualBudget } = budgets;
    if (allowed !== null) budgets[id] = allowed + count;
  }
  return { ...rules, budgets };
}
