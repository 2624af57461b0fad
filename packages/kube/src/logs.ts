import { type Call, callStream, networkError, objectPath } from './call.ts';
import type { Cluster } from './connect.ts';
import { coreApi } from './core-api.ts';
import { KubeError, type KubeFailure } from './errors.ts';
import type { ObjectName } from './pods.ts';

/** A log that could not be read, which proves nothing. The failure is the cluster's or the node's. */
export interface Unreadable {
  readonly unreadable: KubeFailure;
}

/** The cluster cuts off the end; a line may have 16 KB. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Reads a container's log within the limits of the call. It is empty while the pod has no node. */
export async function readLog(
  cluster: Cluster,
  log: ObjectName & {
    readonly container: string;
    readonly tailLines?: number;
    readonly limitBytes?: number;
  },
  signal?: AbortSignal,
): Promise<string | Unreadable> {
  const { namespace, name, container, tailLines, limitBytes = MOST_BYTES } = log;
  const limits = { limitBytes, ...(tailLines !== undefined && { tailLines }) };
  const call = { namespace, name, container, ...limits };
  return coreApi(cluster, { signal }).readNamespacedPodLog(call).catch(asUnreadable);
}

/** Makes the cluster's failure a value. Rethrows other errors. */
export function asUnreadable(error: unknown): Unreadable {
  if (!(error instanceof KubeError)) throw error;
  return { unreadable: error.failure };
}

/** Takes a line: its bytes as latin1, so that no cut falls into a character, and when it was written. */
export type TakeLine = (line: string, at: string | undefined) => void;

/** `end`: all lines until now were taken. `long`: there were more than could be read in time. */
export type WholeLog = 'end' | 'long' | Unreadable;

const FIRST_PAGE_BYTES = 4 * 1024 * 1024;
const LARGEST_PAGE_BYTES = 256 * 1024 * 1024;
/** A kubelet keeps 10 MiB by default. */
const MOST_MS = 60_000;
/** A longer line is taken in pieces that overlap by more than a runner's words have. */
const LONGEST_LINE = 64 * 1024;
const OVERLAP = 512;

/** A writer that never rests would keep the reader busy; then the last page counts as the end. */
const MOST_CONFIRMATIONS = 3;

/**
 * Reads a container's whole log from its first line, in pages, and each line at least once. A page
 * begins at the second of the last line, since the API server cuts off the rest. The last page
 * brings nothing new: an API server ends a page without an error when its node breaks off. A server
 * that ignores `sinceTime` or `limitBytes` sends more than was asked for, which changes nothing.
 */
export async function readWholeLog(
  cluster: Cluster,
  {
    namespace,
    name,
    container,
    mostMs = MOST_MS,
  }: ObjectName & { readonly container: string; readonly mostMs?: number | undefined },
  take: TakeLine,
  signal: AbortSignal,
): Promise<WholeLog> {
  const path = objectPath(namespace, 'pods', name, 'log');
  const time = AbortSignal.timeout(mostMs);
  const limit = AbortSignal.any([signal, time]);
  let limitBytes = FIRST_PAGE_BYTES;
  let reached = { stamp: '', times: 0 };
  let confirmations = 0;
  try {
    while (limitBytes <= LARGEST_PAGE_BYTES) {
      const sinceTime = reached.stamp === '' ? undefined : reached.stamp;
      const query = { container, timestamps: true, limitBytes, sinceTime };
      const page = await readPage(cluster, { path, query, signal: limit }, take);
      const isFull = page.bytes >= limitBytes;
      const isNew = page.stamp !== reached.stamp || page.times > reached.times;
      // Without timestamps no page can continue another.
      const isLast = !page.isCut && (!isNew || page.stamp === '');
      if (!isFull && (isLast || confirmations === MOST_CONFIRMATIONS)) return 'end';
      if (!isFull) confirmations += 1;
      if (isNew) reached = page;
      // More than a page within one second, or one line as long.
      else if (isFull) limitBytes *= 4;
    }
    return 'long';
  } catch (error) {
    signal.throwIfAborted();
    if (time.aborted) return 'long';
    return asUnreadable(error);
  }
}

interface Page {
  readonly bytes: number;
  /** It ends within a line. */
  readonly isCut: boolean;
  /** When its last line was written, by its node, and how many of its lines were written then. */
  readonly stamp: string;
  readonly times: number;
}

type PageCall = Pick<Call, 'path' | 'query'> & { readonly signal: AbortSignal };

async function readPage(cluster: Cluster, page: PageCall, take: TakeLine): Promise<Page> {
  const call = { ...page, method: 'GET', accept: '*/*' } as const;
  const answer = await callStream(cluster, call);
  let bytes = 0;
  let stamp = '';
  let times = 0;
  let rest = '';
  const end = (line: string) => {
    const [whole, at, text = ''] = STAMPED.exec(line) ?? [line, undefined, line];
    if (whole === '') return;
    take(text, at);
    if (at === undefined) return;
    times = at === stamp ? times + 1 : 1;
    stamp = at;
  };
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      const lines = (rest + chunk.toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) end(line);
      if (rest.length <= LONGEST_LINE) continue;
      take(rest, undefined);
      // Its stamp stays in front, for its end.
      rest = (STAMPED.exec(rest)?.[1] ?? '') + ' ' + rest.slice(-OVERLAP);
    }
  } catch (error) {
    throw error instanceof KubeError ? error : networkError(cluster, call, error);
  }
  // A page that is full may have cut its last line, which the next one brings in full.
  if (bytes < Number(page.query?.['limitBytes'])) end(rest);
  return { bytes, isCut: rest !== '', stamp, times };
}

/** A line of the cluster with `timestamps`. */
const STAMPED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) ?(.*)$/s;
