import type { Claim } from './end-tasks.ts';
import type { Kinds } from './kind.ts';
import type { Run } from './run-handler.ts';
import type { Task } from './task.ts';

/** A task that this process has claimed: it runs, or its run is over and not settled yet. */
export interface HeldTask {
  readonly task: Task;
  readonly claim: Claim;
  readonly run: Run;
  readonly renewal: Renewal;
  readonly startedAt: number;
  /** Set when the run is over. This frees the slot; the claim lasts until the task is settled. */
  endedAt: number | undefined;
}

export interface Renewal {
  /** When the last successful renewal was sent, by the monotonic clock. */
  sentAt: number;
}

export interface HeldTasks {
  add(held: HeldTask): void;
  /** Its run is over: the slot is free. */
  end(held: HeldTask): void;
  /** It is settled. */
  remove(held: HeldTask): void;
  size(): number;
  all(): readonly HeldTask[];
  running(): readonly HeldTask[];
  runningOf(kind: string): number;
}

/**
 * By id and fence: a process may hold one task twice, a lost run that is not settled yet and the
 * run after it.
 */
export function createHeldTasks(): HeldTasks {
  const held = new Map<string, HeldTask>();
  const runningByKind = new Map<string, number>();
  const runningOf = (kind: string) => runningByKind.get(kind) ?? 0;
  return {
    add(entry) {
      held.set(keyOf(entry.claim), entry);
      runningByKind.set(entry.task.kind, runningOf(entry.task.kind) + 1);
    },
    end(entry) {
      entry.endedAt = performance.now();
      runningByKind.set(entry.task.kind, runningOf(entry.task.kind) - 1);
    },
    remove: (entry) => void held.delete(keyOf(entry.claim)),
    size: () => held.size,
    all: () => [...held.values()],
    running: () => [...held.values()].filter(({ endedAt }) => endedAt === undefined),
    runningOf,
  };
}

export const keyOf = ({ id, fence }: Pick<Claim, 'id' | 'fence'>): string => `${id}:${fence}`;

/** Slots of each kind after scaling. At least one, unless `percent` is 0. */
export function scaledSlots(kinds: Kinds, percent: number): Record<string, number> {
  const scale = (slots: number) =>
    percent === 0 ? 0 : Math.max(1, Math.round((slots * percent) / 100));
  return Object.fromEntries(Object.entries(kinds).map(([name, { slots }]) => [name, scale(slots)]));
}
