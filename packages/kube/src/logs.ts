import { type Call, callText, objectPath } from './call.ts';
import type { Cluster } from './connect.ts';
import { classifyKubeError, KubeError, type KubeFailure } from './errors.ts';
import type { ObjectName } from './pods.ts';

export interface LogTail extends ObjectName {
  readonly container: string;
  readonly tailLines: number;
  /** Bytes of UTF-8 that are kept, from the end. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** `text: null` says that the log could not be read, and why: that is no proof of anything (E5). */
export type LogRead = { readonly text: string } | { readonly text: null; readonly failure: KubeFailure };

/** The cluster cuts at the end of what was asked for, so it gets a wider limit than ours: one line may be 16 KB long. */
export const LOG_TRANSFER_LIMIT_BYTES = 4 * 1024 * 1024;

/**
 * The end of a container's log. A pod on no node yet has an empty one. Never throws for the cluster's sake: a node
 * that is away or a pod that is gone is a value.
 */
export async function readLogTail(
  cluster: Cluster,
  { namespace, name, container, tailLines, maxBytes, signal }: LogTail,
): Promise<LogRead> {
  const read = await readLog(cluster, { namespace, name }, { container, tailLines, limitBytes: LOG_TRANSFER_LIMIT_BYTES }, signal);
  return read.text === null ? read : { text: keepEnd(read.text, maxBytes) };
}

/** The beginning of a container's log, `bytes` of it at most. Otherwise as `readLogTail`. */
export async function readLogHead(
  cluster: Cluster,
  { container, bytes, signal, ...pod }: ObjectName & { readonly container: string; readonly bytes: number; readonly signal: AbortSignal },
): Promise<LogRead> {
  return readLog(cluster, pod, { container, limitBytes: bytes }, signal);
}

async function readLog(
  cluster: Cluster,
  { namespace, name }: ObjectName,
  query: NonNullable<Call['query']>,
  signal: AbortSignal | undefined,
): Promise<LogRead> {
  try {
    const path = objectPath(namespace, 'pods', name, 'log');
    return { text: await callText(cluster, { method: 'GET', path, query, accept: '*/*', signal, ofNode: true }) };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return { text: null, failure: classifyKubeError(error) };
  }
}

/** The last bytes, from the beginning of a line unless one line alone is too long. */
export function keepEnd(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes;
  const atLineStart = bytes[start - 1] === 0x0a;
  const lineEnd = bytes.indexOf(0x0a, start);
  if (!atLineStart && lineEnd !== -1 && lineEnd < bytes.length - 1) start = lineEnd + 1;
  // Continuation bytes at the front belong to a character that was cut.
  while (((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start).toString();
}
