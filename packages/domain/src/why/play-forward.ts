import { randomNumbers } from './random-numbers.ts';

/** A worker of a key that got a job; each length is more than 0. */
export interface KnownStart {
  /** From its reservation until it got the job. */
  readonly wayMs: number;
  /** From then until it ended, or until now. */
  readonly heldMs: number;
  readonly hasEnded: boolean;
}

/** What stands between a waiting job and its start. */
export interface Line {
  /** 1: no waiting job of its key is older. */
  readonly position: number;
  /** Workers that are made at once. */
  readonly toMake: number;
  /** The ages of the workers without a job. */
  readonly onTheWayMs: readonly number[];
  /** For how long the key's other workers have had their jobs. */
  readonly busyMs: readonly number[];
  /** As many workers as end first make room for no other one: a cap was lowered. */
  readonly surplus: number;
  /** The key's last starts in their order. */
  readonly known: readonly KnownStart[];
}

/** The start of a job far behind depends on many lengths: fewer plays vary as little. */
const MOST_PLAYS = 50;
const LEAST_PLAYS = 20;
/** A few milliseconds. */
const MOST_STEPS = 3_000;
/**
 * Jobs of one matrix are alike, and those before it were not. So each play takes its lengths from
 * this many starts in a row. Of 6 to 50, 8 held best over the loads of the test.
 */
const STRETCH = 8;

/**
 * After how many milliseconds the job starts, the soonest first, one for each of some plays. A play
 * lets the key's workers run on, each as long as some known one did. When a worker ends, the next is
 * made in its place, and takes the oldest job. The same line gives the same answer. Empty: the key
 * has no worker.
 */
export function playForward(line: Line): number[] {
  const play = playsOf(line, randomNumbers(1));
  const plays = Math.min(MOST_PLAYS, Math.max(LEAST_PLAYS, Math.floor(MOST_STEPS / line.position)));
  return Array.from({ length: plays }, play)
    .filter((ms) => ms !== undefined)
    .toSorted(ascending);
}

/** How long something took; not whole: it still goes on. */
interface Length {
  readonly ms: number;
  readonly isWhole: boolean;
}

function playsOf(
  { position, toMake, onTheWayMs, busyMs, surplus, known }: Line,
  random: () => number,
): () => number | undefined {
  const lengths = known.map(({ heldMs: ms, hasEnded: isWhole }) => ({ ms, isWhole }));
  // A key may have thousands of workers, and each play asks for each of them.
  const held = lengths.toSorted(shortestFirst);
  const ways = known.map(({ wayMs: ms }) => ({ ms, isWhole: true })).toSorted(shortestFirst);
  /** How long something goes on that has taken `ms`, by these sorted lengths, else by `all`. */
  const rest = (ms: number, sorted: readonly Length[], all = sorted): number => {
    const shorter = placeOf(ms, sorted, ({ ms: length }) => length);
    const like = sorted[shorter + Math.floor(random() * (sorted.length - shorter))];
    // Nothing known took longer: it may take up to as long again.
    if (like === undefined) return sorted === all ? ms * random() : rest(ms, all);
    return like.ms - ms + (like.isWhole ? 0 : rest(like.ms, all));
  };
  return () => {
    const from = Math.floor(random() * Math.max(1, known.length - STRETCH + 1));
    const stretch = lengths.slice(from, from + STRETCH).toSorted(shortestFirst);
    const freed = busyMs.map((ms) => rest(ms, stretch, held)).toSorted(ascending);
    const starts = [
      ...Array.from({ length: toMake }, () => rest(0, ways)),
      ...onTheWayMs.map((ms) => rest(ms, ways)),
      ...freed.slice(surplus).map((ms) => ms + rest(0, ways)),
    ].toSorted(ascending);
    for (let before = 1; before < position; before += 1) {
      const start = starts.shift();
      if (start === undefined) return undefined;
      const next = start + rest(0, stretch, held) + rest(0, ways);
      starts.splice(
        placeOf(next, starts, (ms) => ms),
        0,
        next,
      );
    }
    return starts[0];
  };
}

/** How many of the sorted items are not above `ms`. */
function placeOf<T>(ms: number, sorted: readonly T[], msOf: (item: T) => number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (msOf(sorted[middle] as T) > ms) high = middle;
    else low = middle + 1;
  }
  return low;
}

const shortestFirst = (a: Length, b: Length): number => a.ms - b.ms;

const ascending = (a: number, b: number): number => a - b;
