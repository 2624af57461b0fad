import { pause } from '@paddock/runtime/pause';
import type { Cluster } from './connect.ts';
import { classifyKubeError, type KubeFailure } from './errors.ts';
import type { ObservedPod } from './observed-pod.ts';
import { podChanges, type PodChange } from './pod-changes.ts';
import { listPods, type PodSelection } from './pods.ts';

/** A change of one pod. */
export type PodEvent = Exclude<PodChange, { readonly type: 'bookmark' }>;

export interface PodWatch extends PodSelection {
  /** Done before each list is asked for: a pod that is known then to have been made, and is not in the list, is gone (C8). */
  readonly beforeList?: (() => Promise<void>) | undefined;
  /** All pods of the instance, from a complete and consistent list. It may ask for the next one sooner than `relistMs`. */
  readonly onList: (pods: readonly ObservedPod[]) => Promise<{ readonly relistInMs?: number | undefined } | void>;
  /**
   * Changes in their order, as many as came while those before them were handled: a pod may be among them more than once. After an
   * interruption some may come again.
   */
  readonly onChanges: (changes: readonly PodEvent[]) => Promise<void>;
  /** Told of each failed list or watch, and when the next attempt follows. */
  readonly onInterrupted?: ((failure: KubeFailure, retryInMs: number) => void) | undefined;
  /** How long one watch lasts before it is resumed. Default `WATCH_SECONDS`. */
  readonly watchSeconds?: number | undefined;
  /** How long to go on from changes alone before all is listed again, in case a change was missed. Default 10 min. */
  readonly relistMs?: number | undefined;
  readonly backoffMs?: { readonly first: number; readonly most: number } | undefined;
  readonly now?: (() => Date) | undefined;
  /** From 0 to below 1: spreads the attempts of several followers. */
  readonly random?: (() => number) | undefined;
}

/** A connection that breaks without a word is noticed after that. */
export const WATCH_SECONDS = 120;

/**
 * After this many failed attempts in a row to go on from a version, all is listed again: the server may never learn of that version, as
 * after a restore of etcd.
 */
const MOST_RESUMES = 5;

/** A watch that ends sooner than this without a word was cut, not finished. */
const SHORTEST_WATCH_MS = 1000;

/**
 * Follows the pods of an instance until the signal aborts:
 *
 *   list ──► watch ──► watch ──► …   each from the last version seen, bookmarks included
 *    ▲         │ too old (410), five failures in a row, or `relistMs` over
 *    └─────────┘
 *
 * Failures of the cluster are waited out with growing, jittered pauses; whatever a callback throws ends the watch and is thrown.
 */
export async function watchPods(cluster: Cluster, watch: PodWatch, signal: AbortSignal): Promise<void> {
  const { now = () => new Date(), random = Math.random, relistMs = 600_000, watchSeconds = WATCH_SECONDS, onInterrupted } = watch;
  const backoff = createBackoff(watch.backoffMs ?? { first: 250, most: 30_000 }, random);
  const interrupted = async (failure: KubeFailure): Promise<void> => {
    const ms = backoff.next(failure.retryAfterMs);
    onInterrupted?.(failure, ms);
    await pause(ms, signal);
  };

  while (!signal.aborted) {
    await watch.beforeList?.();
    const begunAt = now().getTime();
    const list = await attempt(listPods(cluster, watch, signal), signal);
    if (list === 'aborted') return;
    if ('failure' in list) {
      await interrupted(list.failure);
      continue;
    }
    const answer = await watch.onList(list.value.pods);
    const relistAt = answer?.relistInMs === undefined ? begunAt + spread(relistMs, random) : now().getTime() + answer.relistInMs;
    let resourceVersion = list.value.resourceVersion;
    let failures = 0;

    while (!signal.aborted && failures < MOST_RESUMES && now().getTime() < relistAt) {
      const startedAt = now().getTime();
      const secondsLeft = Math.ceil((relistAt - startedAt) / 1000);
      const seconds = Math.max(1, Math.min(secondsLeft, Math.round(spread(watchSeconds, random))));
      const end = await follow(cluster, watch, { resourceVersion, seconds }, signal);
      if (end.seen > 0) {
        failures = 0;
        backoff.reset();
      }
      resourceVersion = end.resourceVersion;
      if (end.failure === 'aborted') return;
      const lasted = now().getTime() - startedAt;
      const isCut = end.failure === undefined && end.seen === 0 && lasted < SHORTEST_WATCH_MS;
      if (isCut) cluster.noteCall?.(CUT_AT_ONCE);
      const failure = isCut ? CUT_AT_ONCE : end.failure;
      if (failure === undefined) {
        failures = 0;
        backoff.reset();
        continue;
      }
      failures = failure.kind === 'gone' ? MOST_RESUMES : failures + 1;
      await interrupted(failure);
    }
  }
}

const CUT_AT_ONCE: KubeFailure = { kind: 'network', message: 'The watch of pods ended as soon as it began.' };

/** Runs one watch connection to its end, whatever that is. Only a callback's error is thrown. */
async function follow(
  cluster: Cluster,
  watch: PodWatch,
  from: { resourceVersion: string; seconds: number },
  signal: AbortSignal,
): Promise<{ resourceVersion: string; seen: number; failure?: KubeFailure | 'aborted' }> {
  let { resourceVersion } = from;
  let seen = 0;
  // The server ends the watch; a server that hangs does not, so the same limit holds here, with some room.
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), from.seconds * 1000 + cluster.requestTimeoutMs);
  const both = AbortSignal.any([signal, stop.signal]);
  const changes = podChanges(cluster, { ...watch, ...from }, both);
  try {
    for (;;) {
      const step = await attempt(changes.next(), both);
      if (step === 'aborted') return { resourceVersion, seen, ...(signal.aborted ? { failure: 'aborted' } : {}) };
      if ('failure' in step) return { resourceVersion, seen, failure: step.failure };
      if (step.value.done === true) return { resourceVersion, seen };
      const events = step.value.value.filter((change) => change.type !== 'bookmark');
      if (events.length > 0) await watch.onChanges(events);
      resourceVersion = step.value.value.at(-1)?.resourceVersion ?? resourceVersion;
      seen += step.value.value.length;
    }
  } finally {
    clearTimeout(timer);
    stop.abort();
    await changes.return();
  }
}

async function attempt<T>(work: Promise<T>, signal: AbortSignal): Promise<{ value: T } | { failure: KubeFailure } | 'aborted'> {
  try {
    return { value: await work };
  } catch (error) {
    return signal.aborted ? 'aborted' : { failure: classifyKubeError(error) };
  }
}

/** Pauses that double, each between half and the whole of its length; never shorter than the server asks for. */
function createBackoff({ first, most }: { first: number; most: number }, random: () => number) {
  let failures = 0;
  return {
    next: (atLeastMs = 0): number => {
      const whole = Math.min(most, first * 2 ** Math.min(failures++, 20));
      return Math.max(atLeastMs, Math.round(whole * (0.5 + random() / 2)));
    },
    reset: () => {
      failures = 0;
    },
  };
}

/** Between 80 % and 120 %. */
const spread = (length: number, random: () => number): number => length * (0.8 + random() * 0.4);
