import type { Item } from '../answers.ts';

interface Stretch {
  readonly what: 'busy' | 'idle' | 'starting' | 'stopping' | 'waiting' | 'free';
  readonly many: number;
}

/** Supply, then the demand that it does not meet, then the room below the cap. */
export function stretchesOf({ supply, demand, cap }: Item<'listPools'>): Stretch[] {
  const unmet = Math.max(0, demand.waiting - supply.idle - supply.starting);
  const free = cap === null ? 0 : Math.max(0, cap.limit - cap.used);
  const all: Stretch[] = [
    { what: 'busy', many: supply.busy },
    { what: 'idle', many: supply.idle },
    { what: 'starting', many: supply.starting },
    { what: 'stopping', many: supply.stopping },
    { what: 'waiting', many: unmet },
    { what: 'free', many: Math.max(0, free - unmet) },
  ];
  return all.filter(({ many }) => many > 0);
}

/** The sums of all pools. `oldest`: since when the job waits that has waited longest. */
export function totalsOf(pools: readonly Item<'listPools'>[]) {
  const sum = (of: (pool: Item<'listPools'>) => number) =>
    pools.reduce((all, pool) => all + of(pool), 0);
  return {
    waiting: sum(({ demand }) => demand.waiting),
    coming: sum(({ supply }) => supply.starting + supply.idle),
    busy: sum(({ supply }) => supply.busy),
    started: sum(({ lastHour }) => lastHour.started),
    oldest: pools.flatMap(({ demand }) => demand.oldestSince ?? []).toSorted()[0],
  };
}

/** Those with trouble first, then those with demand, then by name. */
export const inOrder = (
  pools: readonly Item<'listPools'>[],
  troubled: ReadonlySet<string>,
): Item<'listPools'>[] =>
  pools.toSorted(
    (a, b) =>
      Number(troubled.has(b.name)) - Number(troubled.has(a.name)) ||
      Number(b.demand.waiting > 0) - Number(a.demand.waiting > 0) ||
      (a.name < b.name ? -1 : 1),
  );
