import type { Cluster } from './connect.ts';
import type { KubeFailure } from './errors.ts';
import { LOG_TRANSFER_LIMIT_BYTES, readLogTail } from './logs.ts';
import type { ObjectName } from './pods.ts';
import { RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';

/**
 * What a runner's log says about its job. `job_over`: the last job has ended. `silent`: the log is
 * complete and has no such line. `cut`: lines may be missing.
 */
export type JobInLog = 'job_begun' | 'job_over' | 'listening' | 'silent' | 'cut';

/** The runner's lines at a job's start and end: `2026-01-31 10:26:17Z: Running job: build`. */
const OF_A_JOB = /: (?:Running job: |Job .* (?<over>completed with result: ))/g;
/** The runner's line once it is connected and waits. */
const OF_WAITING = /: Listening for Jobs/;

/**
 * Reads from a runner's log whether it began and ended a job. Images may add text around the
 * runner's words, so a match may be anywhere in a line. `lines`: how many lines the caller asked
 * for. `isEndMissing`: the log may go on after `text`.
 */
export function jobInLog(
  text: string,
  { lines, isEndMissing }: { lines: number; isEndMissing: boolean },
): JobInLog {
  const last = [...text.matchAll(OF_A_JOB)].at(-1);
  if (last !== undefined)
    return last.groups?.['over'] === undefined || isEndMissing ? 'job_begun' : 'job_over';
  if (isEndMissing) return 'cut';
  if (OF_WAITING.test(text)) return 'listening';
  return text.split('\n').length > lines ? 'cut' : 'silent';
}

const LINES = 2_000;

/** Reads the current log of a worker's runner. `unreadable` proves nothing. */
export async function readJobInLog(
  cluster: Cluster,
  pod: ObjectName,
  signal: AbortSignal,
): Promise<JobInLog | { readonly unreadable: KubeFailure }> {
  const read = await readLogTail(cluster, {
    ...pod,
    container: RUNNER_CONTAINER,
    tailLines: LINES,
    maxBytes: LOG_TRANSFER_LIMIT_BYTES,
    signal,
  });
  if (read.text === null) return { unreadable: read.failure };
  return jobInLog(read.text, {
    lines: LINES,
    isEndMissing: Buffer.byteLength(read.text) >= LOG_TRANSFER_LIMIT_BYTES,
  });
}
