import type { Claim } from './end-tasks.ts';
import type { Kinds } from './kind.ts';
import type { Run } from './run-handler.ts';
import type { Task } from './task.ts';

/** A task whose lease this process holds: it runs, or has run and is not settled yet. */
export interface HeldTask {
  readonly task: Task;
  readonly claim: Claim;
  readonly run: Run;
  readonly lease: Lease;
  readonly startedAt: number;
  /** Set when the run is over; the slot is free then, the lease is kept until the task is settled. */
  endedAt: number | undefined;
}

export interface Lease {
  /** By the monotonic clock, when the last successful renewal was asked for. */
  renewedAt: number;
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

/** A process may hold one task twice: a run that it lost, not settled yet, and the one after that. Hence by id and fence. */
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

/** Slots of each kind after scaling: at least one, unless the process shall run nothing. */
export function scaledSlots(kinds: Kinds, percent: number): Record<string, number> {
  const scale = (slots: number) => (percent === 0 ? 0 : Math.max(1, Math.round((slots * percent) / 100)));
  return Object.fromEntries(Object.entries(kinds).map(([name, { slots }]) => [name, scale(slots)]));
}
