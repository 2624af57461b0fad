import type { Cluster } from './connect.ts';
import type { KubeFailure } from './errors.ts';
import { LOG_TRANSFER_LIMIT_BYTES, readLogTail } from './logs.ts';
import type { ObjectName } from './pods.ts';
import { RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';

/**
 * What a runner's log says of its job; `job_over`: the last that it began has ended. `silent`: the log is whole, and holds none of the lines
 * that tell.
 */
export type JobInLog = 'job_begun' | 'job_over' | 'listening' | 'silent' | 'cut';

/** What the runner application writes when it has taken a job and when it has ended one: `2026-01-31 10:26:17Z: Running job: build`. */
const OF_A_JOB = /: (?:Running job: |Job .* (?<over>completed with result: ))/g;
/** What it writes when it is connected and waits. */
const OF_WAITING = /: Listening for Jobs/;

/**
 * Whether the runner whose log this is has begun a job, and ended it. Anywhere in a line, for images decorate what the runner writes. `cut`: there may be
 * lines that are not in `text`, before it or, where `isEndMissing`, behind it.
 */
export function jobInLog(text: string, { lines, isEndMissing }: { lines: number; isEndMissing: boolean }): JobInLog {
  const last = [...text.matchAll(OF_A_JOB)].at(-1);
  if (last !== undefined) return last.groups?.['over'] === undefined || isEndMissing ? 'job_begun' : 'job_over';
  if (isEndMissing) return 'cut';
  if (OF_WAITING.test(text)) return 'listening';
  return text.split('\n').length > lines ? 'cut' : 'silent';
}

const LINES = 2_000;

/** Reads the log of a worker's runner, now. A log that cannot be read is a value: it proves nothing (E5). */
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
  return jobInLog(read.text, { lines: LINES, isEndMissing: Buffer.byteLength(read.text) >= LOG_TRANSFER_LIMIT_BYTES });
}
