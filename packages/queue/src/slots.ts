import type { HeldTask } from './heartbeat.ts';

/**
 * A kind whose tasks are short is claimed ahead, so that a slot need not wait for the database: as
 * many tasks as end within 50 ms, some round trips to a busy PostgreSQL. For tasks that last longer
 * this is next to none.
 */
const AHEAD_MS = 50;
const MOST_AHEAD = 500;

/** What waits longer is given back: the runs before it take longer than those before them. */
export const LONGEST_WAIT_MS = 500;

/**
 * A run that has lasted longer waits for something silent, and lends its slot to the next: one
 * installation or node must not take the slots from all others.
 */
const SLOW_MS = 3_000;
/** How many times its slots a kind lends at most: GitHub allows 100 concurrent requests. */
const LENT_AT_MOST = 2;

interface Lane {
  readonly slots: number;
  readonly running: Set<HeldTask>;
  /** Claimed, oldest first; they begin as slots get free. */
  waiting: HeldTask[];
  /** How many runs have ended since `since`. */
  ended: number;
  since: number;
}

/** The slots of each kind, and the tasks of this process that wait for one. `now`: the monotonic clock. */
export function createSlots(
  bySlots: Readonly<Record<string, number>>,
  now = () => performance.now(),
) {
  const lanes = new Map<string, Lane>(
    Object.entries(bySlots).map(([kind, slots]) => [
      kind,
      { slots, running: new Set(), waiting: [], ended: 0, since: now() },
    ]),
  );
  const laneOf = ({ task: { kind } }: HeldTask): Lane => {
    const lane = lanes.get(kind);
    if (lane === undefined) throw new Error(`this process has no slots for ${kind} tasks`);
    return lane;
  };

  function free({ slots, running }: Lane): number {
    const before = now() - SLOW_MS;
    const slow = [...running].filter(({ startedAt = before }) => startedAt < before).length;
    return slots - running.size + Math.min(slow, LENT_AT_MOST * slots);
  }

  function fill(lane: Lane): number {
    while (free(lane) > 0) {
      const next = lane.waiting.shift();
      if (next === undefined) break;
      lane.running.add(next);
      next.startedAt = now();
      next.run.begin();
    }
    return lane.running.size;
  }

  const waiting = () => [...lanes.values()].flatMap((lane) => lane.waiting);

  return {
    /** How many tasks of each kind to claim now; kinds with room only. */
    room(): [kind: string, room: number][] {
      const at = now();
      return [...lanes].flatMap(([kind, lane]) => {
        const ahead = Math.min(
          MOST_AHEAD,
          Math.floor((lane.ended / Math.max(1, at - lane.since)) * AHEAD_MS),
        );
        // Half of it may run out before the next claim: a claim for one task costs as much as for all.
        const more = lane.waiting.length > ahead / 2 ? 0 : ahead - lane.waiting.length;
        const room = Math.max(0, free(lane)) + more;
        if (room === 0) return [];
        Object.assign(lane, { ended: 0, since: at });
        return [[kind, room]];
      });
    },
    /** Begins it as soon as there is a slot. Returns how many tasks of its kind run. */
    add(entry: HeldTask): number {
      const lane = laneOf(entry);
      lane.waiting.push(entry);
      return fill(lane);
    },
    /** It has ended, or never begins. Returns how many tasks of its kind run. */
    remove(entry: HeldTask): number {
      const lane = laneOf(entry);
      if (entry.startedAt === undefined) lane.waiting = lane.waiting.filter((one) => one !== entry);
      else if (lane.running.delete(entry)) lane.ended += 1;
      return fill(lane);
    },
    waiting,
    /** Those that wait for too long. Ask again within `LONGEST_WAIT_MS` while some wait. */
    overdue: () => {
      const before = now() - LONGEST_WAIT_MS;
      return waiting().filter(({ claimedAt }) => claimedAt < before);
    },
  };
}
