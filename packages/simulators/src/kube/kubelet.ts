import { setTimeout as sleep } from 'node:timers/promises';
import type { playRunner } from '../github/play-runner.ts';
import { INJECT } from './admit.ts';
import { badRequest } from './api-failure.ts';
import { asPod, type ApiObject, type Pod, type PodStatus, type Secret } from './api-object.ts';
import type { ObjectStore } from './object-store.ts';
import {
  endedStatus,
  ENDS,
  exitCodeOf,
  onlyOneEnded,
  type PlayedEnd,
  runningStatus,
  unschedulableStatus,
  waitingStatus,
  current,
  reportStatus,
  tell,
} from './pod-status.ts';

/** Plays a runner's container with its JIT config. */
export type PlayRunner = (
  ...given: Required<Parameters<typeof playRunner>>
) => ReturnType<typeof playRunner>;

export interface KubeletOptions {
  readonly store: ObjectStore;
  /** Absent: a container runs until an annotation ends it. */
  readonly playRunner?: PlayRunner | undefined;
  /**
   * The shortest and the longest time from a pod's creation to its containers' start, in
   * milliseconds.
   */
  readonly startDelayMs: readonly [number, number];
  readonly random: () => number;
}

const NODE = 'sim-node';
const RUNNER = 'runner';
const JIT_CONFIG = 'ACTIONS_RUNNER_INPUT_JITCONFIG';
const START = 'test.paddock/start';
const END = 'test.paddock/end';
const EXIT_CODE = 'test.paddock/exit-code';
const MESSAGE = 'test.paddock/termination-message';

/** A line of a container's log, and when it was written. */
export interface LogLine {
  readonly at: Date;
  readonly text: string;
}

interface Life {
  readonly log: LogLine[];
  /** Its containers run or have run, even if its status does not show it yet. */
  started: boolean;
  readonly killed: AbortController;
}

/**
 * Scheduler and kubelet in one: takes each new pod to its node, starts it, plays its runner and
 * reports its end. It aborts a deleted pod's runner, and the pod goes without another status: its
 * last seen status may be Running.
 */
export function startKubelet(options: KubeletOptions): {
  readLog(pod: ApiObject, container: string): readonly LogLine[];
  /**
   * The output of the pod's runner so far, even if the pod's status does not show yet that it runs.
   */
  runnerLog(pod: ApiObject): readonly string[];
  stop(): Promise<void>;
} {
  const { store } = options;
  const lives = new Map<string, Life>();
  const playing = new Set<Promise<void>>();

  const unsubscribe = store.subscribe(({ type, resource, object }) => {
    if (resource !== 'pods') return;
    const { uid } = object.metadata;
    if (type === 'ADDED') {
      const life: Life = { log: [], started: false, killed: new AbortController() };
      lives.set(uid, life);
      track(live(options, asPod(object), life));
    } else if (type === 'DELETED') {
      lives.get(uid)?.killed.abort();
      lives.delete(uid);
    } else if (object.metadata.deletionTimestamp !== undefined) lives.get(uid)?.killed.abort();
  });
  function track(work: Promise<void>): void {
    const tracked = work.finally(() => playing.delete(tracked));
    playing.add(tracked);
  }

  return {
    runnerLog: ({ metadata: { uid } }) => (lives.get(uid)?.log ?? []).map(({ text }) => text),
    readLog(pod, container) {
      const { phase, containerStatuses = [] } = asPod(pod).status;
      if (asPod(pod).spec.nodeName === undefined) return [];
      const state = containerStatuses.find(({ name }) => name === container)?.state;
      if (phase === 'Pending' && lives.get(pod.metadata.uid)?.started !== true) {
        const why = state?.waiting?.reason ?? 'ContainerCreating';
        throw badRequest(
          `container "${container}" in pod "${pod.metadata.name}" is waiting to start: ${why}`,
        );
      }
      return container === RUNNER ? (lives.get(pod.metadata.uid)?.log ?? []) : [];
    },
    async stop() {
      unsubscribe();
      for (const { killed } of lives.values()) killed.abort();
      await Promise.all(playing);
    },
  };
}

async function live(options: KubeletOptions, pod: Pod, life: Life): Promise<void> {
  const { store } = options;
  const { signal } = life.killed;
  try {
    await runToEnd(options, pod, life);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const left = store.find('pods', pod.metadata.namespace, pod.metadata.name);
  if (left?.metadata.uid === pod.metadata.uid && left.metadata.deletionTimestamp !== undefined)
    store.remove('pods', left);
}

async function runToEnd(
  { store, playRunner, startDelayMs, random }: KubeletOptions,
  pod: Pod,
  life: Life,
): Promise<void> {
  const { signal } = life.killed;
  const report = (status: (current: Pod, now: Date) => PodStatus) =>
    reportStatus(store, pod, status);
  const start = pod.metadata.annotations?.[START];
  if (start === 'unschedulable') {
    report(unschedulableStatus);
    tell(store, pod, 'Warning', 'FailedScheduling', '0/1 nodes are available: 1 Insufficient cpu.');
    await untilKilled(signal);
  }
  store.replace('pods', { ...current(store, pod), spec: { ...pod.spec, nodeName: NODE } });
  tell(store, pod, 'Normal', 'Scheduled', `Successfully assigned ${pod.metadata.name} to ${NODE}`);
  if (start === 'never') await untilKilled(signal);
  report((now, at) => waitingStatus(now, at, 'ContainerCreating'));
  const [least, most] = startDelayMs;
  await sleep(least + random() * (most - least), undefined, { signal });
  if (start === 'image-pull-error') {
    report((now, at) => waitingStatus(now, at, 'ImagePullBackOff', 'Back-off pulling image'));
    tell(store, pod, 'Warning', 'Failed', 'Failed to pull image: not found');
    await untilKilled(signal);
  }
  const jitConfig = await readJitConfig(store, pod, signal);
  life.started = true;
  // Its node is cut off from the API server but not from GitHub, and still serves the log: no
  // status says that it runs.
  if (start !== 'untold') report(runningStatus);
  tell(store, pod, 'Normal', 'Started', `Started container ${RUNNER}`);

  const over = new AbortController();
  const asked = awaitEndAnnotation(store, pod, AbortSignal.any([signal, over.signal]));
  const stop = AbortSignal.any([signal, over.signal]);
  const container = containerOf(pod);
  const played =
    jitConfig === undefined || playRunner === undefined
      ? undefined
      : play((say) => playRunner(jitConfig, stop, say, container), life.log);
  const first: PlayedEnd = await Promise.race([asked, ...(played === undefined ? [] : [played])]);
  over.abort();
  await played;
  signal.throwIfAborted();
  if (pod.metadata.annotations?.[INJECT] !== undefined) {
    report((now, at) => onlyOneEnded(now, endedStatus(now, at, first), RUNNER));
    await untilKilled(signal);
  }
  report((now, at) => endedStatus(now, at, first));
  if (first.end === 'evicted')
    tell(store, pod, 'Warning', 'Evicted', 'The node was low on resource: memory.');
}

function containerOf({ spec }: Pod): Parameters<PlayRunner>[3] {
  const { image = '', env = [] } = spec.containers.find(({ name }) => name === RUNNER) ?? {};
  return { image, env: Object.fromEntries(env.map(({ name, value = '' }) => [name, value])) };
}

type Played = (say: (line: string) => void) => ReturnType<PlayRunner>;

async function play(playRunner: Played, log: LogLine[]): Promise<PlayedEnd> {
  const say = (text: string) => log.push({ at: new Date(), text });
  try {
    const { exitCode, log: whole } = await playRunner(say);
    const lines = whole.map((text, nth) => ({ at: log[nth]?.at ?? new Date(), text }));
    log.splice(0, log.length, ...lines);
    return { end: exitCode === 0 ? 'succeeded' : 'failed', exitCode };
  } catch (error) {
    say(String(error));
    return { end: 'failed', exitCode: 1 };
  }
}

/** Resolves when the pod has the annotation, perhaps from the beginning; rejects on abort. */
async function awaitEndAnnotation(
  store: ObjectStore,
  pod: Pod,
  signal: AbortSignal,
): Promise<PlayedEnd> {
  const annotations = await store.until(
    signal,
    { resource: 'pods', name: pod.metadata.name },
    () => {
      const found = current(store, pod).metadata.annotations;
      return ENDS.some((end) => end === found?.[END]) ? found : undefined;
    },
  );
  const end = ENDS.find((known) => known === annotations[END]) ?? 'failed';
  const message = annotations[MESSAGE];
  return {
    end,
    exitCode: exitCodeOf(end, annotations[EXIT_CODE]),
    ...(message === undefined ? {} : { message }),
  };
}

/**
 * Reads the variable's Secret as a kubelet does: the container waits until the Secret exists.
 * Undefined for a pod without the variable.
 */
async function readJitConfig(
  store: ObjectStore,
  pod: Pod,
  signal: AbortSignal,
): Promise<string | undefined> {
  const variable = pod.spec.containers
    .find(({ name }) => name === RUNNER)
    ?.env?.find(({ name }) => name === JIT_CONFIG);
  const reference = variable?.valueFrom?.secretKeyRef;
  if (reference === undefined) return variable?.value;
  const read = () => {
    const secret: Secret | undefined = store.find(
      'secrets',
      pod.metadata.namespace,
      reference.name,
    );
    const encoded = secret?.data?.[reference.key];
    return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString();
  };
  if (read() === undefined) {
    const why = `secret "${reference.name}" not found`;
    reportStatus(store, pod, (now, at) =>
      waitingStatus(now, at, 'CreateContainerConfigError', why),
    );
    tell(store, pod, 'Warning', 'Failed', `Error: ${why}`);
  }
  return store.until(signal, { resource: 'secrets', name: reference.name }, read);
}

function untilKilled(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, killed) => {
    const kill = () => killed(signal.reason);
    if (signal.aborted) kill();
    else signal.addEventListener('abort', kill, { once: true });
  });
}
