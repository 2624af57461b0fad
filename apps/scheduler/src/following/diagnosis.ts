import type { PodEvent } from '@paddock/kube/events';
import type { Unreadable } from '@paddock/kube/logs';
import type { ObservedCondition, ObservedPod } from '@paddock/kube/observed-pod';
import { podFailure, type PodFailureReason } from '@paddock/kube/pod-failure';
import { RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';
import { SLOW_START, TERMINATING } from '@paddock/db/workers/stuck-pods';
import { storable } from '@paddock/domain/text/storable';
import { connectionProblem } from '@paddock/domain/workers/connection-problem';
import { describeStop, type StopReason } from '@paddock/domain/workers/stop-reasons';
import { hideSecrets } from '@paddock/domain/text/hide-secrets';

/** Stop reasons that only the pod can explain. The pod goes with the worker. */
const EXPLAINED_BY_POD = [
  'not_registered',
  'offline',
  'registration_gone',
] as const satisfies readonly StopReason[];

/**
 * What `workers.failure_info` keeps (version 2) of a worker that failed, whose pod is stuck, or
 * whose runner GitHub does not see.
 */
export interface Diagnosis extends Record<string, unknown> {
  readonly version: 2;
  readonly reason:
    | PodFailureReason
    | typeof SLOW_START
    | typeof TERMINATING
    | (typeof EXPLAINED_BY_POD)[number];
  readonly message: string;
  readonly pod: {
    readonly phase: string;
    readonly reason: string | null;
    readonly message: string | null;
    readonly node: string | null;
    /** Conditions that differ from those of a healthy pod. */
    readonly conditions: readonly ObservedCondition[];
  };
  readonly containers: readonly {
    readonly name: string;
    readonly exitCode: number | null;
    readonly reason: string | null;
    readonly message: string | null;
    /** The end of its log. Null if it could not be read; `logMissing` says why. */
    readonly log: string | null;
    readonly logMissing?: string | undefined;
  }[];
  readonly events: readonly PodEvent[];
  /** Why the events could not be read. */
  readonly eventsMissing?: string | undefined;
}

/** Measured as JSON in UTF-8. */
export const LARGEST_DIAGNOSIS_BYTES = 64 * 1024;
const MOST_EVENTS = 30;
const MOST_CONTAINERS = 20;
const MOST_CONDITIONS = 10;
/** Characters that are read at most: of a sentence from its beginning, of a log from its end. */
const LONGEST_READ = 10_000;
const LONGEST_LOG = 32 * 1024;

/**
 * Characters kept of each log and each sentence. The first limits that make the whole fit apply;
 * logs are cut first.
 */
const LIMITS = [LONGEST_LOG, 16_384, 8_192, 4_096, 2_048, 1_024, 512, 0]
  .map((log) => ({ log, text: 1_000 }))
  .concat([500, 250, 100, 30].map((text) => ({ log: 0, text })));

/**
 * Describes a pod that failed, is stuck, or has a runner that GitHub does not see, in at most 64
 * KB. Cuts logs from their beginning until the whole fits, and hides credentials. `rowReason` is
 * the reason in the row of a worker whose pod lives. Pure.
 */
export function diagnose(
  pod: ObservedPod,
  logs: ReadonlyMap<string, string | Unreadable>,
  events: readonly PodEvent[] | Unreadable,
  rowReason: string | null = null,
): Diagnosis {
  const kept = new Map(
    [...logs].map(
      ([name, log]) => [name, typeof log === 'string' ? fit(tailOf(log)) : log] as const,
    ),
  );
  const ofRunner = kept.get(RUNNER_CONTAINER);
  const cause = causeOf(pod, rowReason, typeof ofRunner === 'string' ? ofRunner : null);
  const within = (limit: Limit) => diagnoseWithin(limit, pod, kept, events, cause);
  return (
    LIMITS.values()
      .map(within)
      .find((each) => Buffer.byteLength(JSON.stringify(each)) <= LARGEST_DIAGNOSIS_BYTES) ??
    within({ log: 0, text: 0 })
  );
}

type Limit = (typeof LIMITS)[number];

function diagnoseWithin(
  limit: Limit,
  pod: ObservedPod,
  logs: ReadonlyMap<string, string | Unreadable>,
  events: readonly PodEvent[] | Unreadable,
  { reason, message }: Pick<Diagnosis, 'reason' | 'message'>,
): Diagnosis {
  const clean = (text: string): string => {
    const kept = fit(text.slice(0, LONGEST_READ));
    return kept.length > limit.text ? `${storable(kept.slice(0, limit.text))}…` : kept;
  };
  const ifSaid = (text: string | undefined) => (text === undefined ? undefined : clean(text));
  return {
    version: 2,
    reason,
    message: clean(message),
    pod: {
      phase: pod.phase,
      reason: ifSaid(pod.podReason) ?? null,
      message: ifSaid(pod.podMessage) ?? null,
      node: pod.nodeName ?? null,
      conditions: pod.conditions.slice(0, MOST_CONDITIONS).map((condition) =>
        Object.assign({}, condition, {
          reason: ifSaid(condition.reason),
          message: ifSaid(condition.message),
        }),
      ),
    },
    containers: pod.containers.slice(0, MOST_CONTAINERS).map((container) => {
      const log = logs.get(container.name);
      return {
        name: container.name,
        exitCode: container.exitCode ?? null,
        reason: ifSaid(container.reason) ?? null,
        message: ifSaid(container.message) ?? null,
        log: typeof log === 'string' ? endOf(log, limit.log) : null,
        logMissing: typeof log === 'object' ? clean(log.unreadable.message) : undefined,
      };
    }),
    events:
      'unreadable' in events
        ? []
        : events.slice(-MOST_EVENTS).map((event) =>
            Object.assign({}, event, {
              reason: clean(event.reason),
              message: clean(event.message),
            }),
          ),
    eventsMissing: 'unreadable' in events ? clean(events.unreadable.message) : undefined,
  };
}

/**
 * If GitHub never saw the runner, or it failed before Kubernetes knew why, its own log explains
 * most.
 */
function causeOf(
  pod: ObservedPod,
  rowReason: string | null,
  log: string | null,
): Pick<Diagnosis, 'reason' | 'message'> {
  const problem = log === null ? undefined : connectionProblem(log);
  const explained = EXPLAINED_BY_POD.find((reason) => reason === rowReason);
  if (explained !== undefined) {
    const silence =
      log === null
        ? 'Its log could not be read.'
        : log.trim() === ''
          ? 'Its log is empty: does the image start the runner?'
          : '';
    return {
      reason: explained,
      message: `${describeStop(explained)} ${problem ?? silence}`.trim(),
    };
  }
  const { reason, message } = causeInStatus(pod, rowReason);
  return {
    reason,
    message: reason === 'exit_code' && problem !== undefined ? `${message}. ${problem}` : message,
  };
}

function causeInStatus(
  pod: ObservedPod,
  rowReason: string | null,
): Pick<Diagnosis, 'reason' | 'message'> {
  if (rowReason === TERMINATING && pod.phase !== 'Failed') {
    const since = pod.deletionTimestamp?.toISOString() ?? 'now';
    return {
      reason: TERMINATING,
      message: `the pod was to be gone by ${since}: its node does not answer, or a finalizer holds it`,
    };
  }
  const failure = podFailure(pod);
  if (failure !== undefined) return failure;
  return rowReason === SLOW_START
    ? {
        reason: SLOW_START,
        message: `the pod is ${pod.phase}, and its status does not say what it waits for`,
      }
    : { reason: 'unknown', message: `the pod is ${pod.phase}` };
}

/** The end of a log, from the beginning of a line if it can: half a credential would not be known. */
function tailOf(log: string): string {
  const tail = log.slice(-LONGEST_LOG);
  return tail.length < log.length ? tail.slice(tail.indexOf('\n') + 1) : tail;
}

const endOf = (text: string, length: number): string =>
  length === 0 ? '' : storable(text.slice(-length));

const fit = (text: string): string => hideSecrets(storable(text));

/** The diagnosis without the logs, which hold what the job wrote. */
export const withoutLogs = (diagnosis: Diagnosis): Diagnosis => ({
  ...diagnosis,
  containers: diagnosis.containers.map((container) =>
    container.log === null
      ? container
      : { ...container, log: null, logMissing: 'the pool keeps no logs' },
  ),
});

/**
 * Whether only the pod can explain a stop for this reason, so that it is examined before it goes.
 */
export const isExplainedByPod = (reason: string | null): boolean =>
  EXPLAINED_BY_POD.some((explained) => explained === reason);
