import { RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';
import type { Cluster } from './connect.ts';
import type { KubeFailure } from './errors.ts';
import { jobInLog } from './job-begun.ts';
import { LOG_TRANSFER_LIMIT_BYTES, readLogHead, readLogTail } from './logs.ts';
import type { ObjectName } from './pods.ts';

/** The runner application says so once, when it is connected. */
const OF_VERSION = /Current runner version: '(\d+\.\d+\.\d+)'/;
/** What it says when GitHub serves its version no more; its exit code may be 0 all the same. */
const OF_REFUSAL = /Runner version v?(\d+\.\d+\.\d+) is deprecated and cannot receive messages/;

/** It comes within the first lines; with the diagnostic log of the official image between them these take some 10 KB. */
const HEAD_BYTES = 256 * 1024;
const TAIL_LINES = 2_000;

type Unreadable = { readonly unreadable: KubeFailure };

/** The version of a pod's runner, as its own log tells it; undefined: the log does not, or not yet. */
export async function readRunnerVersion(cluster: Cluster, pod: ObjectName, signal: AbortSignal): Promise<string | undefined | Unreadable> {
  const read = await readLogHead(cluster, { ...pod, container: RUNNER_CONTAINER, bytes: HEAD_BYTES, signal });
  return read.text === null ? { unreadable: read.failure } : OF_VERSION.exec(read.text)?.[1];
}

/** The version that GitHub refused to a pod's runner; undefined: none, or the runner had begun a job. */
export async function readRefusedVersion(cluster: Cluster, pod: ObjectName, signal: AbortSignal): Promise<string | undefined | Unreadable> {
  const tail = { ...pod, container: RUNNER_CONTAINER, tailLines: TAIL_LINES, maxBytes: LOG_TRANSFER_LIMIT_BYTES, signal };
  const read = await readLogTail(cluster, tail);
  if (read.text === null) return { unreadable: read.failure };
  return refusedVersion(read.text);
}

/** The version that GitHub refused to the runner whose log this is. What a job may have written counts for nothing. */
export function refusedVersion(log: string): string | undefined {
  const ofJob = jobInLog(log, { lines: TAIL_LINES, isEndMissing: false });
  return ofJob === 'job_begun' || ofJob === 'job_over' ? undefined : OF_REFUSAL.exec(log)?.[1];
}
