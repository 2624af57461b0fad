import { RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';
import type { Cluster } from './connect.ts';
import type { KubeFailure } from './errors.ts';
import { jobInLog } from './job-begun.ts';
import { LOG_TRANSFER_LIMIT_BYTES, readLogHead, readLogTail } from './logs.ts';
import type { ObjectName } from './pods.ts';

/** The runner's line once it is connected. */
const VERSION = /Current runner version: '(\d+\.\d+\.\d+)'/;
/** Its line if GitHub no longer serves its version. Its exit code may still be 0. */
const REFUSAL = /Runner version v?(\d+\.\d+\.\d+) is deprecated and cannot receive messages/;

/** The version is in the first lines, some 10 KB with the official image's diagnostic log. */
const HEAD_BYTES = 256 * 1024;
const TAIL_LINES = 2_000;

type Unreadable = { readonly unreadable: KubeFailure };

/** Reads the runner's version from its log. Undefined: the log does not have it, or not yet. */
export async function readRunnerVersion(
  cluster: Cluster,
  pod: ObjectName,
  signal: AbortSignal,
): Promise<string | undefined | Unreadable> {
  const read = await readLogHead(cluster, {
    ...pod,
    container: RUNNER_CONTAINER,
    bytes: HEAD_BYTES,
    signal,
  });
  return read.text === null ? { unreadable: read.failure } : VERSION.exec(read.text)?.[1];
}

/** Reads the runner version that GitHub refused. Undefined: none, or the runner began a job. */
export async function readRefusedVersion(
  cluster: Cluster,
  pod: ObjectName,
  signal: AbortSignal,
): Promise<string | undefined | Unreadable> {
  const tail = {
    ...pod,
    container: RUNNER_CONTAINER,
    tailLines: TAIL_LINES,
    maxBytes: LOG_TRANSFER_LIMIT_BYTES,
    signal,
  };
  const read = await readLogTail(cluster, tail);
  if (read.text === null) return { unreadable: read.failure };
  return refusedVersion(read.text);
}

/**
 * The version that GitHub refused, from a runner's log. Once a job began, the log may be forged.
 */
export function refusedVersion(log: string): string | undefined {
  const job = jobInLog(log);
  return job === 'job_begun' || job === 'job_over' ? undefined : REFUSAL.exec(log)?.[1];
}
