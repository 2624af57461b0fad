import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type KubeSimulator,
  startKubeSimulator,
} from '@paddock/simulators/kube/start-kube-simulator';
import { waitFor } from '@paddock/testing/wait-for';
import { once } from 'node:events';
import { type RequestListener, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Cluster, connectCluster } from './connect.ts';
import type { KubeFailure } from './errors.ts';
import { podChanges } from './pod-changes.ts';
import { createPod, deletePod } from './pods.ts';
import { runnerPod } from './runner-pod.ts';
import { type PodEvent, type PodWatch, watchPods } from './watch-pods.ts';

describe('watchPods', () => {
  let simulator: KubeSimulator;
  let cluster: Cluster;
  let over: AbortController;
  let seen: string[];
  let failures: KubeFailure[];
  let watching: Promise<void>;

  beforeEach(async () => {
    simulator = await startKubeSimulator({ kubelet: false, bookmarkMs: 20 });
    cluster = connectSimulated(simulator);
    over = new AbortController();
    seen = [];
    failures = [];
  });
  afterEach(async () => {
    over.abort();
    await Promise.allSettled([watching]);
    cluster.close();
    await simulator.stop();
  });

  function follow(options: Partial<PodWatch> = {}): void {
    watching = watchPods(
      cluster,
      {
        ...here,
        onList: (pods) => note(`list ${pods.map((pod) => pod.name).join()}`),
        onChanges: noteAll,
        onInterrupted: (failure) => failures.push(failure),
        ...options,
      },
      over.signal,
    );
    void Promise.allSettled([watching]); // a test or its end awaits it
  }
  function note(line: string): Promise<void> {
    seen.push(line);
    return Promise.resolve();
  }
  const noteAll = async (changes: readonly PodEvent[]): Promise<void> => {
    for (const { type, pod } of changes) await note(`${type} ${pod.name}`);
  };
  const create = (name: string, instance = here.instance) => {
    const spec = {
      ...here,
      instance,
      name,
      pool: 'linux',
      image: 'i',
      entityId: 1,
      scopeRepoId: 0,
    };
    return createPod(cluster, runnerPod(spec));
  };
  const see = async (line: string) => waitFor(line, () => seen.includes(line));
  const isOpen = async () => waitFor('an open watch', () => simulator.report().openWatches === 1);

  test('a cut watch goes on from the last version: nothing is listed or told again (C8)', async () => {
    follow();
    await isOpen();
    await create('a');
    await see('added a');
    simulator.failNext({ verb: 'watch', status: 503, times: 2 });
    simulator.cutWatches();
    await create('b');
    await see('added b');
    expect(seen).toEqual(['list ', 'added a', 'added b']);
    expect(failures.map(({ kind }) => kind)).toEqual(['network', 'unavailable', 'unavailable']);
    expect(simulator.report().calls['list pods']).toBe(1);
  });

  test('a version that is too old makes it list again, told within the stream or as a status (C8)', async () => {
    follow();
    await isOpen();
    await create('a');
    await see('added a');
    simulator.failNext({ verb: 'watch', status: 410, reason: 'Expired' });
    simulator.cutWatches();
    await see('list a');
    await isOpen();
    // The pauses are long enough for what happens while no watch is open.
    simulator.failNext({ verb: 'watch', status: 503 });
    simulator.cutWatches();
    await create('b');
    simulator.compact();
    await see('list a,b');
    expect(failures.filter(({ kind }) => kind === 'gone')).toHaveLength(2);
  });

  test('bookmarks carry the version on while nothing happens to our pods', async () => {
    follow();
    await isOpen();
    // The history ends after the version of the list; only a bookmark can have told the follower of
    // a later one.
    await create('f', 'foreign');
    simulator.compact();
    await waitForBookmark();
    simulator.cutWatches();
    await create('a');
    await see('added a');
    expect(seen).toEqual(['list ', 'added a']);
  });
  /** Bookmarks go to all watches alike each 20 ms: a second watch shows when one has passed. */
  async function waitForBookmark(): Promise<void> {
    const watch = { ...here, resourceVersion: '0', seconds: 30 };
    const changes = podChanges(cluster, watch, new AbortController().signal);
    for (let bookmarks = 0; bookmarks < 2; bookmarks++) await changes.next();
    await changes.return();
  }

  test('gives up a version that the server cannot serve for long, and lists all pods again', async () => {
    follow();
    await isOpen();
    // The cut itself is the first of five failures.
    simulator.failNext({ verb: 'watch', status: 500, times: 4 });
    simulator.cutWatches();
    await waitFor('a second list', () => simulator.report().calls['list pods'] === 2);
    expect(failures).toHaveLength(5);
  });

  test('a list that fails, or whose pages expire, begins again and is passed on as a whole only (C8)', async () => {
    for (const name of ['a', 'b', 'c']) await create(name);
    simulator.failNext({ verb: 'list', status: 429, retryAfterSeconds: 600 });
    simulator.failNext({ verb: 'list', status: 410, reason: 'Expired', after: 1 });
    follow({ pageSize: 1 });
    await see('list a,b,c');
    expect(seen).toEqual(['list a,b,c']);
    expect(failures.map(({ kind }) => kind)).toEqual(['too_many_requests', 'gone']);
  });

  test('pods made while the known workers are read are in the list that follows, in the second like in the first (C8)', async () => {
    const made: string[] = [];
    const beforeList = async (): Promise<void> => {
      made.push(`pod-${made.length}`);
      for (const name of made.slice(-1)) await create(name);
    };
    follow({ beforeList });
    await see('list pod-0');
    await isOpen();
    simulator.compact();
    simulator.cutWatches();
    await see('list pod-0,pod-1');
    const lists = seen.filter((line) => line.startsWith('list'));
    expect(lists).toEqual(['list pod-0', 'list pod-0,pod-1']);
  });

  test('a watch that is never answered is tried again after the time limit', async () => {
    simulator.failNext({ verb: 'watch', hang: true });
    const hasty = connectSimulated(simulator, 1_000);
    const watch = { ...here, onList: () => note('list'), onChanges: noteAll };
    watching = watchPods(hasty, watch, over.signal);
    await see('list');
    await create('a');
    await see('added a');
    // A slow answer is tried again, too.
    expect(simulator.report().calls['watch pods']).toBeGreaterThanOrEqual(2);
    over.abort();
    await watching;
    hasty.close();
  });

  test('after a while all is listed again, though nothing failed', async () => {
    follow({ relistMs: 1, watchSeconds: 1 });
    await waitFor('a second list', () => seen.length >= 2);
    expect(failures).toEqual([]);
  });

  test('all is listed again as soon as a list is doubted, and only then (C8)', async () => {
    let lists = 0;
    const onList = () => Promise.resolve(++lists === 1 ? { relistInMs: 10 } : {});
    follow({ watchSeconds: 600, onList });
    await waitFor('a second list', () => lists === 2);
    await isOpen();
    await create('a');
    await see('added a');
    expect(lists).toBe(2);
  });

  test('it ends at once when told to, also while it waits for the cluster', async () => {
    simulator.failNext({ verb: 'list', hang: true });
    follow();
    await waitFor('the list', () => simulator.report().calls['list pods'] === 1);
    over.abort();
    await expect(watching).resolves.toBeUndefined();
    expect(await deletePod(cluster, { ...here, name: 'missing' })).toBe('absent');
  });
});

/**
 * Follows the pods of a server that answers lists with none, and watches as `answer` does, until
 * `isOver`.
 */
async function followServer(
  answer: RequestListener,
  isOver: () => boolean,
  watch: Partial<PodWatch> = {},
): Promise<void> {
  const server = createServer((request, response) => {
    if (request.url?.includes('watch=true') === true) answer(request, response);
    else {
      const list = { kind: 'PodList', metadata: { resourceVersion: '5' }, items: [] };
      response.end(JSON.stringify(list));
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const simulator = await startKubeSimulator();
  const cluster = connectCluster({
    kubeconfigFile: simulator.writeKubeconfig(`http://127.0.0.1:${port}`),
    requestTimeoutMs: 50,
  });
  const over = new AbortController();
  const nothing = { onList: () => Promise.resolve(), onChanges: () => Promise.resolve() };
  const watching = watchPods(cluster, { ...here, ...nothing, ...watch }, over.signal);
  await waitFor('a second watch', isOver);
  over.abort();
  await expect(watching).resolves.toBeUndefined();
  cluster.close();
  server.closeAllConnections();
  await once(server.close(), 'close');
  await simulator.stop();
}

test('a server that is silent for a whole watch, without a bookmark, is asked for a list: it may be restored to before our version (C8)', async () => {
  let watches = 0;
  let lists = 0;
  const silent: RequestListener = (_request, response) => {
    watches++;
    response.flushHeaders();
  };
  const onList = () => Promise.resolve(void lists++);
  await followServer(silent, () => watches === 2, { watchSeconds: 1, onList });
  expect([watches, lists]).toEqual([2, 2]);
});

const event = (version: number): string => {
  const name = `pod-${version}`;
  const metadata = { name, uid: name, resourceVersion: String(version) };
  const object = { metadata, spec: { containers: [] }, status: { phase: 'Pending' } };
  return `${JSON.stringify({ type: 'ADDED', object })}\n`;
};

test('changes that came while earlier ones were handled, before the connection broke, are passed on and not asked for again (C8)', async () => {
  const versions: (string | null)[] = [];
  const broken = Promise.withResolvers<void>();
  const handling = Promise.withResolvers<void>();
  const breaking: RequestListener = (request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://cluster');
    if (versions.push(searchParams.get('resourceVersion')) > 1) return response.flushHeaders();
    response.write(event(6));
    request.socket.once('close', broken.resolve);
    void handling.promise.then(() =>
      response.write(event(7) + event(8) + event(9).slice(0, 20), () => request.socket.destroy()),
    );
  };
  const told: string[] = [];
  const onChanges = async (changes: readonly PodEvent[]): Promise<void> => {
    told.push(...changes.map(({ pod }) => pod.name));
    handling.resolve();
    await broken.promise;
  };
  await followServer(breaking, () => versions.length === 2, { onChanges });
  expect(told).toEqual(['pod-6', 'pod-7', 'pod-8']);
  expect(versions).toEqual(['5', '8']);
});

const here = { namespace: 'default', instance: 'abc123' };

/** The simulator's credentials are in its kubeconfig; `connectCluster` reads a file. */
function connectSimulated(simulator: KubeSimulator, requestTimeoutMs = 20_000): Cluster {
  return connectCluster({ kubeconfigFile: simulator.writeKubeconfig(), requestTimeoutMs });
}
