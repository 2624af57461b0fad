import { isBadData } from '@paddock/db/connection/errors';
import { findPassMemory, type PassMemory } from '@paddock/db/schedules/sweep-states';
import type { Db } from '@paddock/db/schema/tables';
import type { Task } from '@paddock/queue/kind';
import type { Service } from '@paddock/runtime/reach';

/** The visit of one object. */
export interface Turn {
  /** True once a call was left out: the object keeps the time at which it was due. */
  isUnasked: boolean;
  /** The object has failed at least three times, over at least an hour. */
  readonly hasFailedLong: boolean;
}

/** How to walk through the objects of a sweep. */
export interface Walking<T> {
  readonly entityOf: (object: T) => string | number;
  /** Asks about one object. False if that failed, or left something to ask again later. */
  readonly visit: (object: T, turn: Turn) => Promise<boolean>;
  /** Writes into the object's own row when it is due again. Without it the pass keeps that. */
  readonly postpone?: (object: T) => Promise<void>;
  /** The object's name in what the pass keeps; unused with `postpone`. */
  readonly keyOf?: (object: T) => string;
  /**
   * Visits leave no mark: a pass that followed at once would visit the same objects, without end. So
   * what the time does not suffice for waits for the next tick.
   */
  readonly waitsForTick?: boolean;
}

/** One pass of a sweep over the objects of many entities. */
export interface Pass {
  readonly task: Pick<Task, 'subject' | 'payload'>;
  /** Aborts once the process stops, or a person stops the sweep. */
  readonly signal: AbortSignal;
  /** Only count what would be done: write nothing, and only read GitHub and the cluster. */
  readonly dryRun: boolean;
  /** Keys of the objects that failed and are not due again. */
  readonly resting: readonly string[];
  /**
   * Visits the objects, given by due time: entities take turns. An object that fails is due twice
   * as late each time. Ends early if a service is away, or at its share of time.
   */
  walk<T>(objects: readonly T[], how: Walking<T>): Promise<void>;
  /**
   * Notes the names that a list shows, and forgets those that it does not. Returns how long those
   * have been shown that earlier lists showed too, in milliseconds.
   */
  note(list: string, names: readonly string[]): ReadonlyMap<string, number>;
  /** What the last `note` of a list had. */
  known(list: string): readonly string[];
  /** For a call without a usable answer: whether the service is away. That ends the pass. */
  isAway(service: Service): Promise<boolean>;
}

/** How a pass went. */
export interface PassEnd {
  /** What kept it from visiting all objects. */
  readonly endedBy: 'away' | 'time' | 'stopped' | undefined;
  readonly memory: PassMemory;
}

export interface PassOptions extends Pick<Pass, 'task' | 'signal' | 'dryRun'> {
  readonly db: Db;
  readonly schedule: string;
  /** Our own probe of a service. */
  readonly isAway: (service: Service) => Promise<boolean>;
  /** Gets the error of each visit that failed because of what was said of its object. */
  readonly onUnusable: (object: string, error: unknown) => void;
  /** Most visits at once. */
  readonly atOnce?: number;
  /** How long one walk visits objects, in milliseconds. */
  readonly shareMs?: number;
  /** A clock that only goes on, in milliseconds. */
  readonly clock?: () => number;
}

/** Of the five minutes that a task may run. */
const SHARE_MS = 120_000;
/** GitHub allows 100 concurrent requests. */
const AT_ONCE = 8;
const HOUR_MS = 3_600_000;
/** The first wait of an object that failed, in milliseconds. */
const FIRST_WAIT_MS = 60_000;
/** The longest: over before the next tick of a sweep that runs every hour. */
const LONGEST_WAIT_MS = HOUR_MS - 300_000;
/** After this many failures, over an hour, an object has failed for long: `hasFailedLong`. */
const MANY = 3;

/** An answer about one object had a value that no row can hold, or lacked one. */
const isOfItsObject = (error: unknown): boolean =>
  isBadData(error) || error instanceof TypeError || error instanceof RangeError;

/** Begins a pass. `end` says how it went, and what it leaves for the next one. */
export async function beginPass(
  options: PassOptions,
): Promise<{ readonly pass: Pass; readonly end: () => PassEnd }> {
  const { db, schedule, task, signal, dryRun, shareMs = SHARE_MS, atOnce = AT_ONCE } = options;
  const clock = options.clock ?? (() => performance.now());
  const begunAt = clock();
  const memory = await findPassMemory(db, schedule);
  const { now, unreached: before } = memory;
  const shown = new Map(Object.entries(memory.seen));
  const failing = rememberFailing(memory.failing, now, () => now + (clock() - begunAt));
  const unreached = new Set<string>();
  let endedBy: PassEnd['endedBy'];
  const isOver = (walkedFrom: number, waitsForTick = false): boolean => {
    const isLate = clock() - walkedFrom >= shareMs;
    if (signal.aborted) endedBy ??= 'stopped';
    if (isLate && !waitsForTick) endedBy ??= 'time';
    return isLate || signal.aborted || endedBy === 'away';
  };

  const visitOne = async <T>(object: T, how: Walking<T>): Promise<void> => {
    const key = how.keyOf?.(object) ?? '';
    const turn: Turn = { isUnasked: false, hasFailedLong: failing.hasFailedLong(key) };
    const isDone = await how.visit(object, turn).catch((error: unknown) => {
      if (!isOfItsObject(error)) throw error;
      options.onUnusable(key || `one of ${how.entityOf(object)}`, error);
      return false;
    });
    if (isDone) failing.forget(key);
    // What an outage or a stop cut short is no failure of the object.
    if (isDone || turn.isUnasked || dryRun || endedBy === 'away' || signal.aborted) return;
    if (how.postpone === undefined) failing.postpone(key);
    else await how.postpone(object);
  };

  const walk: Pass['walk'] = async (objects, how) => {
    const { keyOf, entityOf, waitsForTick } = how;
    const walkedFrom = clock();
    const rests = new Set(failing.resting);
    const due =
      keyOf === undefined ? objects : objects.filter((object) => !rests.has(keyOf(object)));
    const named = (object: (typeof objects)[number]) => String(entityOf(object));
    const left = new Set(due.map(named));
    const queue = inTurns(due, named, before);
    let next = 0;
    let failure: { readonly error: unknown } | undefined;
    const lane = async (most = Infinity): Promise<void> => {
      for (let made = 0; made < most; made++) {
        if (failure !== undefined || next >= queue.length || isOver(walkedFrom, waitsForTick))
          return;
        const object = queue[next++] as (typeof queue)[number];
        left.delete(named(object));
        await visitOne(object, how).catch((error: unknown) => (failure ??= { error }));
      }
    };
    // The first visit goes alone: its failure may hold for all.
    await lane(1);
    await Promise.all(Array.from({ length: atOnce }, () => lane()));
    if (failure !== undefined) throw failure.error;
    for (const entity of left) unreached.add(entity);
  };

  const pass: Pass = {
    task,
    signal,
    dryRun,
    resting: failing.resting,
    walk,
    known: (list) => Object.keys(shown.get(list) ?? {}),
    note(list, names) {
      const known = shown.get(list) ?? {};
      const since = (name: string) => Math.min(known[name] ?? now, now);
      shown.set(list, Object.fromEntries(names.map((name) => [name, since(name)])));
      return new Map(
        names.flatMap((name) => (name in known ? [[name, now - since(name)] as const] : [])),
      );
    },
    async isAway(service) {
      if (endedBy !== 'away' && (await options.isAway(service))) endedBy = 'away';
      return endedBy === 'away';
    },
  };
  const end = (): PassEnd => ({
    endedBy,
    memory: {
      failing: failing.left(),
      unreached:
        endedBy === 'stopped'
          ? before
          : Object.fromEntries([...unreached].map((name) => [name, (before[name] ?? 0) + 1])),
      seen: Object.fromEntries([...shown].filter(([, names]) => Object.keys(names).length > 0)),
    },
  });
  return { pass, end };
}

/** The objects that failed, by their keys. `now` was when the pass began, and `time` goes on. */
function rememberFailing(before: PassMemory['failing'], now: number, time: () => number) {
  const failing = new Map(Object.entries(before));
  const known = (key: string) => failing.get(key) ?? { times: 0, since: now };
  // An instant further ahead was written under a wrong clock.
  const isAhead = (dueAt: number) => dueAt > now && dueAt <= now + HOUR_MS;
  return {
    resting: [...failing].flatMap(([key, { dueAt }]) => (isAhead(dueAt) ? [key] : [])),
    hasFailedLong: (key: string) => known(key).times >= MANY && now - known(key).since >= HOUR_MS,
    postpone(key: string): void {
      const { times, since } = known(key);
      const waitMs = Math.min(FIRST_WAIT_MS * 2 ** times, LONGEST_WAIT_MS);
      failing.set(key, { times: times + 1, since: Math.min(since, now), dueAt: time() + waitMs });
    },
    forget: (key: string) => void failing.delete(key),
    /** An object that no pass asked about for a day is gone. */
    left: () =>
      Object.fromEntries([...failing].filter(([, { dueAt }]) => dueAt > now - 24 * HOUR_MS)),
  };
}

/**
 * Objects in the order of their visits: one of each entity, then the next one of each. An entity's
 * objects keep their order. Entities that passes did not reach come first, those of the most passes
 * before others; then the entity whose object comes first.
 */
function inTurns<T>(
  objects: readonly T[],
  entityOf: (object: T) => string,
  unreached: Readonly<Record<string, number>>,
): T[] {
  const byEntity = [...Map.groupBy(objects, entityOf)].toSorted(
    ([a], [b]) => (unreached[b] ?? 0) - (unreached[a] ?? 0),
  );
  const turns: T[][] = [];
  for (const [, ofEntity] of byEntity)
    for (const [turn, object] of ofEntity.entries()) (turns[turn] ??= []).push(object);
  return turns.flat();
}
