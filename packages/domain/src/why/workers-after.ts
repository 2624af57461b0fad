import type { PassPlan } from '../matching/plan-pass.ts';
import type { Snapshot } from '../matching/snapshot.ts';

/** How many workers without a job a key has after a pass; 0 for a key that the pass leaves alone. */
export function workersAfter(
  { demand, reservations, returnable }: Snapshot,
  { make, takeBack, giveBack }: PassPlan,
  demandKey: number,
): number {
  const isOfKey = (one: { readonly demandKey: number }): boolean => one.demandKey === demandKey;
  const unassigned = demand.find(isOfKey)?.unassigned ?? 0;
  const made = make.find(isOfKey)?.count ?? 0;
  const named = (
    names: readonly string[],
    among: readonly { podName: string; demandKey: number }[],
  ) => among.filter((one) => isOfKey(one) && names.includes(one.podName)).length;
  const gone = reservations.filter(({ stopping }) => !stopping);
  return unassigned + made + named(takeBack, returnable) - named(giveBack, gone);
}
