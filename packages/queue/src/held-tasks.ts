import type { Claim } from './end-tasks.ts';
import type { Kinds } from './kind.ts';
import type { Run } from './run-handler.ts';
import type { Task } from './task.ts';

/** A task that this process has claimed: it runs, or its run is over and not settled yet. */
export interface HeldTask {
  readonly task: Task;
  readonly claim: Claim;
  readonly run: Run;
  /** When the last successful renewal was sent, by the monotonic clock. */
  readonly renewal: { sentAt: number };
  readonly startedAt: number;
  /** Set when the run is over. This frees the slot; the claim lasts until the task is settled. */
  endedAt: number | undefined;
}

export type HeldTasks = ReturnType<typeof createHeldTasks>;

/**
 * By id and fence: a process may hold one task twice, a lost run that is not settled yet and the
 * run after it.
 */
export function createHeldTasks() {
  const held = new Map<string, HeldTask>();
  const running = () => [...held.values()].filter(({ endedAt }) => endedAt === undefined);
  return {
    add: (entry: HeldTask) => void held.set(keyOf(entry.claim), entry),
    /** It is settled. */
    remove: (entry: HeldTask) => void held.delete(keyOf(entry.claim)),
    size: () => held.size,
    all: (): readonly HeldTask[] => [...held.values()],
    running,
    runningOf: (kind: string) => running().filter(({ task }) => task.kind === kind).length,
  };
}

export const keyOf = ({ id, fence }: Pick<Claim, 'id' | 'fence'>): string => `${id}:${fence}`;

/** Slots of each kind after scaling. At least one, unless `percent` is 0. */
export function scaledSlots(kinds: Kinds, percent: number): Record<string, number> {
  const scale = (slots: number) =>
    percent === 0 ? 0 : Math.max(1, Math.round((slots * percent) / 100));
  return Object.fromEntries(Object.entries(kinds).map(([name, { slots }]) => [name, scale(slots)]));
}
