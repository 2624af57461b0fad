import type { CoreV1Api } from '@kubernetes/client-node';
import type { Cluster } from './connect.ts';
import { coreApi } from './core-api.ts';
import { classifyKubeError, KubeError, type KubeFailure } from './errors.ts';
import type { ObjectName } from './pods.ts';

export interface LogTail extends ObjectName {
  readonly container: string;
  readonly tailLines: number;
  /** Most bytes of UTF-8 to keep, from the end. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** `text: null`: the log could not be read, which proves nothing. */
export type LogRead =
  | { readonly text: string }
  | { readonly text: null; readonly failure: KubeFailure };

/** The cluster cuts off the end, so this limit is wider than ours: a line may have 16 KB. */
export const LOG_TRANSFER_LIMIT_BYTES = 4 * 1024 * 1024;

/**
 * Reads the end of a container's log. It is empty while the pod has no node. A failure of the
 * cluster is a value, not an error.
 */
export async function readLogTail(
  cluster: Cluster,
  { namespace, name, container, tailLines, maxBytes, signal }: LogTail,
): Promise<LogRead> {
  const read = await readLog(
    cluster,
    { namespace, name, container, tailLines, limitBytes: LOG_TRANSFER_LIMIT_BYTES },
    signal,
  );
  return read.text === null ? read : { text: keepEnd(read.text, maxBytes) };
}

/** Reads the beginning of a container's log, at most `bytes`. Otherwise like `readLogTail`. */
export async function readLogHead(
  cluster: Cluster,
  {
    namespace,
    name,
    container,
    bytes,
    signal,
  }: ObjectName & {
    readonly container: string;
    readonly bytes: number;
    readonly signal: AbortSignal;
  },
): Promise<LogRead> {
  return readLog(cluster, { namespace, name, container, limitBytes: bytes }, signal);
}

async function readLog(
  cluster: Cluster,
  log: Parameters<CoreV1Api['readNamespacedPodLog']>[0],
  signal: AbortSignal | undefined,
): Promise<LogRead> {
  try {
    return { text: await coreApi(cluster, { signal }).readNamespacedPodLog(log) };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return { text: null, failure: classifyKubeError(error) };
  }
}

/** The last bytes of a text. They begin with a line, unless one line alone is too long. */
export function keepEnd(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes;
  const atLineStart = bytes[start - 1] === 0x0a;
  const lineEnd = bytes.indexOf(0x0a, start);
  if (!atLineStart && lineEnd !== -1 && lineEnd < bytes.length - 1) start = lineEnd + 1;
  // Continuation bytes at the front are the rest of a cut character.
  while (((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start).toString();
}
