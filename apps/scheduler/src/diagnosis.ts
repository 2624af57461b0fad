import type { PodEvent } from '@paddock/kube/events';
import type { ObservedContainer, ObservedPod } from '@paddock/kube/observed-pod';
import { podFailure, type PodFailureReason } from '@paddock/kube/pod-failure';

/** What is kept of a failed worker: `workers.failure_info`, version 2 (C8). */
export interface Diagnosis extends Record<string, unknown> {
  readonly version: 2;
  readonly reason: PodFailureReason;
  readonly message: string;
  readonly pod: { readonly phase: string; readonly reason: string | null; readonly message: string | null; readonly node: string | null };
  readonly containers: readonly DiagnosedContainer[];
  readonly events: readonly PodEvent[];
}

export interface DiagnosedContainer {
  readonly name: string;
  readonly exitCode: number | null;
  readonly reason: string | null;
  readonly message: string | null;
  /** The end of its log; null when it could not be read, and then `logMissing` says why. */
  readonly log: string | null;
  readonly logMissing?: string;
}

export interface ContainerLog {
  readonly text: string | null;
  readonly missing?: string;
}

/** As JSON text of UTF-8. */
export const LARGEST_DIAGNOSIS_BYTES = 64 * 1024;
const MOST_EVENTS = 30;
const LONGEST_MESSAGE = 1_000;

/** Puts together what is known of a failed pod, in at most 64 KB: logs are cut from their beginning until it fits. Pure. */
export function diagnose(pod: ObservedPod, logs: ReadonlyMap<string, ContainerLog>, events: readonly PodEvent[]): Diagnosis {
  const { reason, message } = podFailure(pod) ?? { reason: 'unknown', message: `the pod is ${pod.phase}` };
  const common = {
    version: 2,
    reason,
    message: clean(message),
    pod: {
      phase: pod.phase,
      reason: pod.podReason === undefined ? null : clean(pod.podReason),
      message: pod.podMessage === undefined ? null : clean(pod.podMessage),
      node: pod.nodeName ?? null,
    },
    events: events.slice(-MOST_EVENTS).map(cleanEvent),
  } as const;
  for (let longestLog = LARGEST_DIAGNOSIS_BYTES; ; longestLog = Math.floor(longestLog / 2)) {
    const diagnosis = { ...common, containers: pod.containers.map((container) => diagnoseContainer(container, logs, longestLog)) };
    if (Buffer.byteLength(JSON.stringify(diagnosis)) <= LARGEST_DIAGNOSIS_BYTES || longestLog === 0) return diagnosis;
  }
}

function diagnoseContainer(container: ObservedContainer, logs: ReadonlyMap<string, ContainerLog>, longestLog: number): DiagnosedContainer {
  const { name, exitCode, reason, message } = container;
  const { text, missing } = logs.get(name) ?? { text: null };
  return {
    name,
    exitCode: exitCode ?? null,
    reason: reason === undefined ? null : clean(reason),
    message: message === undefined ? null : clean(message),
    log: text === null ? null : storable(longestLog === 0 ? '' : text.slice(-longestLog)),
    ...(missing === undefined ? {} : { logMissing: clean(missing) }),
  };
}

const cleanEvent = (event: PodEvent): PodEvent => ({ ...event, reason: clean(event.reason), message: clean(event.message) });

const clean = (text: string): string => storable(text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text);

/** JSONB holds neither NUL nor half a surrogate pair. */
const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();
