import { RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';
import type { LogSays } from '@paddock/domain/workers/may-end';
import type { Cluster } from './connect.ts';
import { readLog, readWholeLog, type Unreadable } from './logs.ts';
import type { ObjectName } from './pods.ts';

export type JobInLog = Exclude<LogSays, 'none' | 'unreadable'>;

/** The runner's line at a job's start: `2026-01-31 10:26:17Z: Running job: build`. */
const BEGUN = ': Running job: ';
/** Its line at a job's end has both, around the job's name. */
const OVER = [': Job ', ' completed with result: '] as const;
/** Its line once it is connected and waits. */
const WAITING = ': Listening for Jobs';
/** One of its first lines. */
const START = "Current runner version: '";

/** How long an image may take until it writes its first line. */
const START_MS = 60_000;

/**
 * Reads line by line whether a runner began and ended a job. Images may add text around the
 * runner's words, so they may be anywhere in a line. A line may come twice. No regular expression: a
 * job may have written the line.
 */
function createJobScan() {
  let job: 'job_begun' | 'job_over' | undefined;
  let isWaiting = false;
  let hasStart = false;
  let firstAt: string | undefined;
  return {
    take(line: string, at?: string): void {
      firstAt ??= at;
      const begun = line.lastIndexOf(BEGUN);
      const over = line.lastIndexOf(OVER[1]);
      const isOver = over > begun && line.lastIndexOf(OVER[0], over) !== -1;
      if (isOver || begun !== -1) job = isOver ? 'job_over' : 'job_begun';
      if (!isWaiting) hasStart ||= line.includes(START);
      isWaiting ||= line.includes(WAITING);
    },
    /**
     * `isEndMissing`: the log may go on. A kubelet keeps only the newest part of a log: its beginning
     * is missing if it begins long after the container, and without the runner's first lines.
     */
    result({
      startedAt,
      isEndMissing,
    }: {
      startedAt?: Date | undefined;
      isEndMissing: boolean;
    }): JobInLog {
      if (job !== undefined) return isEndMissing ? 'job_begun' : job;
      const isLate =
        startedAt !== undefined &&
        firstAt !== undefined &&
        Date.parse(firstAt) - startedAt.getTime() > START_MS;
      if (isEndMissing || (isLate && !hasStart)) return 'cut';
      return isWaiting ? 'listening' : 'silent';
    },
  };
}

/** Whether a runner's log, or a part of it, shows that it began a job, or was connected. */
export function jobInLog(text: string): Exclude<JobInLog, 'cut'> {
  const scan = createJobScan();
  for (const line of text.split('\n')) scan.take(line);
  const result = scan.result({ isEndMissing: false });
  return result === 'cut' ? 'silent' : result;
}

/**
 * Reads the whole log of a worker's runner, from the start of its container. `startedAt` is its
 * node's word. `unreadable` proves nothing.
 */
export async function readJobInLog(
  cluster: Cluster,
  {
    startedAt,
    ...log
  }: ObjectName & {
    readonly startedAt?: Date | undefined;
    /** How long it may take. */
    readonly mostMs?: number;
  },
  signal: AbortSignal,
): Promise<JobInLog | Unreadable> {
  const scan = createJobScan();
  const whole = { ...log, container: RUNNER_CONTAINER };
  const read = await readWholeLog(cluster, whole, scan.take, signal);
  if (typeof read === 'object') return read;
  return scan.result({ startedAt, isEndMissing: read === 'long' });
}

/** The runner's line once it is connected. */
const VERSION = /Current runner version: '(\d+\.\d+\.\d+)'/;
/** Its line if GitHub no longer serves its version. Its exit code may still be 0. */
const REFUSAL = /Runner version v?(\d+\.\d+\.\d+) is deprecated and cannot receive messages/;

/** The version is in the first lines, some 10 KB with the official image's diagnostic log. */
const HEAD_BYTES = 256 * 1024;
const TAIL_LINES = 2_000;

/** Reads the runner's version from its log. Undefined: the log does not have it, or not yet. */
export async function readRunnerVersion(
  cluster: Cluster,
  pod: ObjectName,
  signal: AbortSignal,
): Promise<string | undefined | Unreadable> {
  const log = { ...pod, container: RUNNER_CONTAINER, limitBytes: HEAD_BYTES };
  const text = await readLog(cluster, log, signal);
  return typeof text === 'string' ? VERSION.exec(text)?.[1] : text;
}

/** Reads the runner version that GitHub refused. Undefined: none, or the runner began a job. */
export async function readRefusedVersion(
  cluster: Cluster,
  pod: ObjectName,
  signal: AbortSignal,
): Promise<string | undefined | Unreadable> {
  const log = { ...pod, container: RUNNER_CONTAINER, tailLines: TAIL_LINES };
  const text = await readLog(cluster, log, signal);
  return typeof text === 'string' ? refusedVersion(text) : text;
}

/**
 * The version that GitHub refused, from a runner's log. Once a job began, the log may be forged.
 */
export function refusedVersion(log: string): string | undefined {
  const job = jobInLog(log);
  return job === 'job_begun' || job === 'job_over' ? undefined : REFUSAL.exec(log)?.[1];
}
