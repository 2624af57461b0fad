import type { LiveWorkers } from './share-room.ts';
import type { Reservation } from './pick-unwanted.ts';
import type { Returnable, Snapshot, WorkersToMake } from './snapshot.ts';
import type { StoredRules } from './stored-rules.ts';

// Each step of a plan begins with the snapshot as the steps before it will have left it.

/** Changes of the workers of a key; the numbers are added. */
interface Change extends LiveWorkers {
  readonly unassigned: number;
  readonly stopping: number;
}

export function afterTakingBack(before: Snapshot, workers: readonly Returnable[]): Snapshot {
  const names = new Set(workers.map(({ podName }) => podName));
  const reservations = before.reservations.map((one) =>
    names.has(one.podName) ? { ...one, stopping: false } : one,
  );
  const changes = workers.map((worker) =>
    Object.assign({}, worker, { unassigned: 1, alive: 0, stopping: -1 }),
  );
  return withChanges({ ...before, reservations }, changes);
}

export function afterGivingBack(before: Snapshot, gone: readonly Reservation[]): Snapshot {
  const names = new Set(gone.map(({ podName }) => podName));
  const reservations = before.reservations.filter(({ podName }) => !names.has(podName));
  const rules = withFreed(before.rules, gone, () => 1);
  const changes = gone.map((one) =>
    Object.assign({}, one, {
      unassigned: one.stopping ? 0 : -1,
      alive: -1,
      stopping: one.stopping ? -1 : 0,
    }),
  );
  return withChanges({ ...before, reservations, rules }, changes);
}

export function afterMaking(before: Snapshot, workers: readonly WorkersToMake[]): Snapshot {
  const rules = withFreed(before.rules, workers, ({ count }) => -count);
  const changes = workers.map((one) =>
    Object.assign({}, one, { unassigned: one.count, alive: one.count, stopping: 0 }),
  );
  return withChanges({ ...before, rules }, changes);
}

/** How many workers of each key are asked to end. They count in every cap until they have ended. */
export function afterStopping(
  before: Snapshot,
  leaving: readonly { demandKey: number; count: number }[],
): Snapshot {
  const counts = new Map(leaving.map(({ demandKey, count }) => [demandKey, count]));
  const changes = before.spare.map((key) => {
    const count = counts.get(key.demandKey) ?? 0;
    return Object.assign({}, key, { unassigned: -count, alive: 0, stopping: count });
  });
  return withChanges(before, changes);
}

function withChanges(before: Snapshot, changes: readonly Change[]): Snapshot {
  if (changes.length === 0) return before;
  const added = new Map<number, number>();
  for (const { demandKey, unassigned } of changes)
    added.set(demandKey, (added.get(demandKey) ?? 0) + unassigned);
  const addedTo = ({ demandKey }: { demandKey: number }): number => added.get(demandKey) ?? 0;
  const counted = <K extends { demandKey: number; unassigned: number }>(keys: readonly K[]): K[] =>
    keys.map((key) =>
      added.has(key.demandKey) ? { ...key, unassigned: key.unassigned + addedTo(key) } : key,
    );
  return {
    ...before,
    demand: counted(before.demand),
    reservations: counted(before.reservations),
    warm: counted(before.warm).map((key) =>
      Object.assign({}, key, { marked: key.marked + Math.min(0, addedTo(key)) }),
    ),
    spare: before.spare
      .map((key) => Object.assign({}, key, { spare: key.spare + addedTo(key) }))
      .filter(({ spare }) => spare > 0),
    live: withAdded(before.live, changes, ({ alive }) => alive),
    stopping: withAdded(before.stopping, changes, ({ stopping }) => stopping),
  };
}

function withAdded(
  workers: readonly LiveWorkers[],
  changes: readonly Change[],
  countOf: (change: Change) => number,
): LiveWorkers[] {
  const ofKeys = new Map(workers.map((one) => [one.demandKey, one]));
  for (const change of changes) {
    const { demandKey, entityId, scopeRepoId, pool } = change;
    const alive = (ofKeys.get(demandKey)?.alive ?? 0) + countOf(change);
    ofKeys.set(demandKey, { demandKey, entityId, scopeRepoId, pool, alive });
  }
  return [...ofKeys.values()];
}

function withFreed<W extends { installationId: number }>(
  rules: StoredRules,
  workers: readonly W[],
  freedBy: (one: W) => number,
): StoredRules {
  const budgets = { ...rules.budgets };
  for (const worker of workers) {
    const { [worker.installationId]: allowed = rules.usualBudget } = budgets;
    budgets[worker.installationId] = allowed + freedBy(worker);
  }
  return { ...rules, budgets };
}
