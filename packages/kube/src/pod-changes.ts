import { asRecord, isRecord } from '@paddock/domain/pools/as-record';
import { callStream, networkError, objectPath, readJson, type Call } from './call.ts';
import type { Cluster } from './connect.ts';
import { KubeError, kindOf, readStatus } from './errors.ts';
import { instanceSelector } from './labels.ts';
import { observePod, type ObservedPod } from './observed-pod.ts';
import { readPod, type PodSelection } from './pods.ts';

export type PodChange =
  /**
   * The pod of `deleted` shows its state before: its phase may be Running. A pod that lost our
   * labels is `deleted` too.
   */
  | {
      readonly type: 'added' | 'modified' | 'deleted';
      readonly pod: ObservedPod;
      readonly resourceVersion: string;
    }
  | { readonly type: 'bookmark'; readonly resourceVersion: string };

/**
 * Reads one watch connection. Yields all changes that have arrived, no faster than the caller takes
 * them. Ends when the server ends it, after `seconds` at the latest. Throws KubeError, `gone` if
 * the version is too old; changes before the error are yielded first.
 */
export async function* podChanges(
  cluster: Cluster,
  selection: PodSelection & { readonly resourceVersion: string; readonly seconds: number },
  signal: AbortSignal,
): AsyncGenerator<readonly PodChange[], void, void> {
  const call: Call & { signal: AbortSignal } = {
    method: 'GET',
    path: objectPath(selection.namespace, 'pods'),
    query: {
      watch: true,
      allowWatchBookmarks: true,
      labelSelector: instanceSelector(selection.instance),
      resourceVersion: selection.resourceVersion,
      timeoutSeconds: selection.seconds,
    },
    signal,
  };
  const answer = await callStream(cluster, call);
  answer.setEncoding('utf8');
  let rest = '';
  try {
    for await (const chunk of answer) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > LONGEST_LINE) throw noEvent('a line without an end');
      yield* readChanges(lines);
    }
  } catch (error) {
    if (error instanceof KubeError) throw error;
    signal.throwIfAborted();
    throw networkError(cluster, call, error);
  } finally {
    answer.destroy();
  }
}

function* readChanges(lines: readonly string[]): Generator<readonly PodChange[], void, void> {
  const changes: PodChange[] = [];
  try {
    for (const line of lines) if (line !== '') changes.push(readChange(line));
  } finally {
    if (changes.length > 0) yield changes;
  }
}

const TYPES: ReadonlyMap<unknown, 'added' | 'modified' | 'deleted'> = new Map([
  ['ADDED', 'added'],
  ['MODIFIED', 'modified'],
  ['DELETED', 'deleted'],
]);

function readChange(line: string): PodChange {
  const { type, object } = parseLine(line);
  const known = TYPES.get(type);
  if (known !== undefined || type === 'BOOKMARK') {
    const { resourceVersion } = asRecord(asRecord(object)['metadata']);
    if (typeof resourceVersion !== 'string' || resourceVersion === '')
      throw noEvent('an object without a version');
    return known === undefined
      ? { type: 'bookmark', resourceVersion }
      : { type: known, pod: observePod(readPod(object)), resourceVersion };
  }
  const { code = 500, reason, message = 'no reason given' } = readStatus(object);
  throw new KubeError({
    kind: kindOf(code, reason),
    status: code,
    reason,
    message: `The watch of pods ended with ${String(type)} ${code}: ${message}`,
  });
}

function parseLine(line: string): Record<string, unknown> {
  try {
    const value = readJson(line);
    if (isRecord(value)) return value;
  } catch {
    // Reported like any other line that is no event.
  }
  throw noEvent('a line that is not an event in JSON');
}

/** Several times what etcd keeps of one object. */
const LONGEST_LINE = 16 * 1024 * 1024;

const noEvent = (what: string) =>
  new KubeError({ kind: 'unavailable', message: `The watch of pods sent ${what}.` });
