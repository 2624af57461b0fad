import { pause } from '@paddock/runtime/pause';
import type { Cluster } from './connect.ts';
import { classifyKubeError, type KubeFailure } from './errors.ts';
import type { ObservedPod } from './observed-pod.ts';
import { podChanges, type PodChange } from './pod-changes.ts';
import { listPods, type PodSelection } from './pods.ts';

/** A change of one pod. */
export type PodEvent = Exclude<PodChange, { readonly type: 'bookmark' }>;

export interface PodWatch extends PodSelection {
  /** Runs before each list. A pod that was known before it, and is not in the list, is gone. */
  readonly beforeList?: (() => Promise<void>) | undefined;
  /** Gets all pods of the instance. May ask for the next list sooner than `relistMs`. */
  readonly onList: (
    pods: readonly ObservedPod[],
  ) => Promise<{ readonly relistInMs?: number | undefined } | void>;
  /**
   * Gets the changes that came since the last call, in order. A pod may be among them more than
   * once. After an interruption some may repeat.
   */
  readonly onChanges: (changes: readonly PodEvent[]) => Promise<void>;
  /** Gets each failed list or watch, and the time until the next attempt. */
  readonly onInterrupted?: ((failure: KubeFailure, retryInMs: number) => void) | undefined;
  /** The length of one watch. Default `WATCH_SECONDS`. */
  readonly watchSeconds?: number | undefined;
  /** The time between two lists, in case a change was missed. Default 10 min. */
  readonly relistMs?: number | undefined;
}

/** A connection that breaks silently is noticed after this time. */
const WATCH_SECONDS = 120;

/**
 * After this many failed attempts in a row from one version, all is listed again: after a restore
 * of etcd the server may never know that version.
 */
const MOST_RESUMES = 5;

/** A watch that ends sooner, without a change or an error, was cut. */
const SHORTEST_WATCH_MS = 1000;
const CUT_AT_ONCE: KubeFailure = {
  kind: 'network',
  message: 'The watch of pods ended as soon as it began.',
};

/**
 * One follower's call every two seconds burdens no API server. A longer pause would outlast a short
 * absence, even if the cluster, or what stands before it, asks for one.
 */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Follows the pods of an instance until the signal aborts:
 *
 *   list ──► watch ──► watch ──► …   each from the last version seen, bookmarks included
 *    ▲         │ too old (410), five failures in a row, silence, or `relistMs` over
 *    └─────────┘
 *
 * After a failure of the cluster it waits, longer each time and with jitter. An error of a callback
 * ends the watch and is thrown.
 */
export async function watchPods(
  cluster: Cluster,
  watch: PodWatch,
  signal: AbortSignal,
): Promise<void> {
  const { relistMs = 600_000, watchSeconds = WATCH_SECONDS } = watch;
  let pauseMs = FIRST_PAUSE_MS;
  const interrupted = async (failure: KubeFailure): Promise<void> => {
    const jittered = Math.round(pauseMs * (0.5 + Math.random() / 2));
    const ms = Math.max(Math.min(failure.retryAfterMs ?? 0, LONGEST_PAUSE_MS), jittered);
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    watch.onInterrupted?.(failure, ms);
    await pause(ms, signal);
  };

  while (!signal.aborted) {
    await watch.beforeList?.();
    const begunAt = performance.now();
    const list = await attempt(listPods(cluster, watch, signal), signal);
    if (list === 'aborted') return;
    if ('failure' in list) {
      await interrupted(list.failure);
      continue;
    }
    const answer = await watch.onList(list.value.pods);
    const relistAt =
      answer?.relistInMs === undefined
        ? begunAt + spread(relistMs)
        : performance.now() + answer.relistInMs;
    let { resourceVersion } = list.value;
    let failures = 0;

    while (!signal.aborted && failures < MOST_RESUMES && performance.now() < relistAt) {
      const startedAt = performance.now();
      const secondsLeft = Math.ceil((relistAt - startedAt) / 1000);
      const seconds = Math.min(secondsLeft, Math.round(spread(watchSeconds)));
      const end = await follow(cluster, watch, { resourceVersion, seconds }, signal);
      if (signal.aborted) return;
      ({ resourceVersion } = end);
      const isCut = end.seen === 0 && performance.now() - startedAt < SHORTEST_WATCH_MS;
      const failure = end.failure ?? (isCut ? CUT_AT_ONCE : undefined);
      if (end.seen > 0 || failure === undefined) {
        // A server restored to before our version sends nothing until it has passed that, no bookmark either.
        failures = end.seen > 0 ? 0 : MOST_RESUMES;
        pauseMs = FIRST_PAUSE_MS;
      }
      if (failure === undefined) continue;
      failures = failure.kind === 'gone' ? MOST_RESUMES : failures + 1;
      await interrupted(failure);
    }
  }
}

/** Runs one watch connection to its end. Throws only a callback's error. */
async function follow(
  cluster: Cluster,
  watch: PodWatch,
  from: { resourceVersion: string; seconds: number },
  signal: AbortSignal,
): Promise<{ resourceVersion: string; seen: number; failure?: KubeFailure }> {
  let { resourceVersion } = from;
  let seen = 0;
  // A server that hangs does not end the watch, so this process ends it a little later.
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), from.seconds * 1000 + cluster.requestTimeoutMs);
  const both = AbortSignal.any([signal, stop.signal]);
  const changes = podChanges(cluster, { ...watch, ...from }, both);
  try {
    for (;;) {
      const step = await attempt(changes.next(), both);
      if (step === 'aborted') return { resourceVersion, seen };
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

async function attempt<T>(
  work: Promise<T>,
  signal: AbortSignal,
): Promise<{ value: T } | { failure: KubeFailure } | 'aborted'> {
  try {
    return { value: await work };
  } catch (error) {
    return signal.aborted ? 'aborted' : { failure: classifyKubeError(error) };
  }
}

/** Between 80 % and 120 %. */
const spread = (length: number): number => length * (0.8 + Math.random() * 0.4);
