import type { ServerResponse } from 'node:http';
import type { ApiCall } from './api-call.ts';
import { ApiFailure, statusObject } from './api-failure.ts';
import { KIND, type ApiObject } from './api-object.ts';
import type { Change, ObjectStore } from './object-store.ts';
import { selectorOf, type Selector } from './list-pages.ts';

interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: unknown;
}

/**
 * Streams the changes of a collection, one JSON line each, until the caller leaves,
 * `timeoutSeconds` is over or someone calls `cut`. Reports a version that is too old within the
 * stream, as the API server does.
 */
export function serveWatch(
  store: ObjectStore,
  call: ApiCall,
  response: ServerResponse,
  bookmarkMs: number,
): { cut(): void } {
  const { resource, namespace, query } = call;
  const selected = selectorOf(query);
  const fits: Selector = (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) && selected(object);
  const send = ({ type, object }: WatchEvent) =>
    response.write(`${JSON.stringify({ type, object })}\n`);
  const bookmark = () =>
    send({ type: 'BOOKMARK', object: emptyObject(resource, store.revision()) });

  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  try {
    const from = Number(query.get('resourceVersion') ?? 0);
    if (from === 0)
      for (const object of store.list(resource, namespace).filter(selected))
        send({ type: 'ADDED', object });
    else for (const change of store.changesAfter(resource, from)) pass(change);
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    send({ type: 'ERROR', object: statusObject(error) });
    response.end();
    return { cut: () => undefined };
  }

  function pass(change: Change): void {
    const event = eventOf(change, fits);
    if (change.resource === resource && event !== undefined) send(event);
  }
  const unsubscribe = store.subscribe(pass);
  const wanted = query.get('allowWatchBookmarks') === 'true';
  const bookmarks = wanted ? setInterval(bookmark, bookmarkMs) : undefined;
  const seconds = Number(query.get('timeoutSeconds') ?? 0);
  const limit = seconds > 0 ? setTimeout(finish, seconds * 1000) : undefined;

  function finish(): void {
    if (wanted) bookmark();
    response.end();
  }
  response.once('close', () => {
    unsubscribe();
    clearInterval(bookmarks);
    clearTimeout(limit);
  });
  return { cut: () => response.destroy() };
}

/**
 * A change as a selector shows it: an object that begins to match is added, one that stops matching
 * is deleted.
 */
function eventOf(
  { type, object, previous, revision }: Change,
  fits: Selector,
): WatchEvent | undefined {
  const now = type !== 'DELETED' && fits(object);
  const before = previous !== undefined && fits(previous);
  if (now) return { type: before ? 'MODIFIED' : 'ADDED', object };
  if (!before) return undefined;
  return {
    type: 'DELETED',
    object: { ...previous, metadata: { ...previous.metadata, resourceVersion: String(revision) } },
  };
}

function emptyObject(
  resource: Change['resource'],
  revision: number,
): Pick<ApiObject, 'apiVersion' | 'kind'> & { metadata: object } {
  return {
    apiVersion: 'v1',
    kind: KIND[resource],
    metadata: { resourceVersion: String(revision), creationTimestamp: null },
  };
}
