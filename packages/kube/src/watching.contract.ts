import { describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { callJson, objectPath } from './call.ts';
import type { Cluster } from './connect.ts';
import { failureOf, RUNNING } from './scenes/contract-parts.scene.ts';
import type { ObservedPod } from './observed-pod.ts';
import { podChanges } from './pod-changes.ts';
import { createPod, deletePod, listPods } from './pods.ts';
import { runnerPod, type RunnerPodSpec } from './runner-pod.ts';
import { watchPods } from './watch-pods.ts';

const namespace = 'runners';

interface Watched {
  readonly clusters: () => { readonly cluster: Cluster; readonly tooOldVersion: () => string };
  readonly newWorker: (instance?: string) => RunnerPodSpec;
  readonly setStatus: (pod: string, status: object) => Promise<unknown>;
}

/** The changes of pods that every cluster reports. */
export function watchingContract({ clusters, newWorker, setStatus }: Watched): void {
  describe('watching', () => {
    test('the list comes first and then each change in order, of only its own instance (A8, C8)', async () => {
      const { cluster } = clusters();
      const [before, after, foreign] = [
        newWorker('watched'),
        newWorker('watched'),
        newWorker('unwatched'),
      ];
      await createPod(cluster, runnerPod(before));
      const seen: string[] = [];
      const record = (what: string, pod: ObservedPod) => {
        seen.push(`${what} ${pod.name} ${pod.phase}`);
        return Promise.resolve();
      };
      const over = new AbortController();
      const watch = watchPods(
        cluster,
        {
          namespace,
          instance: 'watched',
          onList: async (pods) => {
            for (const pod of pods) await record('listed', pod);
          },
          onChanges: async (changes) => {
            for (const { type, pod } of changes) await record(type, pod);
          },
        },
        over.signal,
      );
      await waitFor('the list', () => seen.length === 1);
      await createPod(cluster, runnerPod(foreign));
      await createPod(cluster, runnerPod(after));
      await setStatus(after.name, RUNNING);
      await deletePod(cluster, after);
      await waitFor('the deletion', () => seen.some((line) => line.startsWith('deleted')));
      over.abort();
      await watch;
      expect(seen).toEqual([
        `listed ${before.name} Pending`,
        `added ${after.name} Pending`,
        `modified ${after.name} Running`,
        // Even a pod that goes at once is first marked with a deletion timestamp.
        `modified ${after.name} Running`,
        // The object of a deletion is the old one.
        `deleted ${after.name} Running`,
      ]);
    });

    test('a watch goes on from an older version without a gap', async () => {
      const { cluster } = clusters();
      const worker = newWorker();
      const { resourceVersion } = await listPods(cluster, worker);
      await createPod(cluster, runnerPod(worker));
      await setStatus(worker.name, RUNNING);
      const over = new AbortController();
      const types: string[] = [];
      for await (const changes of podChanges(
        cluster,
        { ...worker, resourceVersion, seconds: 30 },
        over.signal,
      )) {
        types.push(...changes.map(({ type }) => type));
        if (types.includes('modified')) break;
      }
      expect(types).toEqual(['added', 'modified']);
    });

    test('a watch from a version that is too old is gone (C8)', async () => {
      const { cluster, tooOldVersion } = clusters();
      const changes = podChanges(
        cluster,
        { ...newWorker(), resourceVersion: tooOldVersion(), seconds: 30 },
        new AbortController().signal,
      );
      await expect(failureOf(changes.next())).resolves.toMatchObject({
        kind: 'gone',
        status: 410,
        reason: 'Expired',
      });
    });

    test('a watch ends by itself when its time is over', async () => {
      const { cluster } = clusters();
      const worker = newWorker();
      const { resourceVersion } = await listPods(cluster, worker);
      const selection = { ...worker, resourceVersion, seconds: 1 };
      const types: string[] = [];
      for await (const changes of podChanges(cluster, selection, new AbortController().signal))
        types.push(...changes.map(({ type }) => type));
      expect(types.filter((type) => type !== 'bookmark')).toEqual([]);
    });

    test('a pod that loses our labels is deleted for a watcher', async () => {
      const { cluster } = clusters();
      const worker = newWorker();
      await createPod(cluster, runnerPod(worker));
      const { resourceVersion } = await listPods(cluster, worker);
      await callJson(cluster, {
        method: 'PATCH',
        path: objectPath(namespace, 'pods', worker.name),
        body: { metadata: { labels: { 'paddock.dev/instance': 'stolen' } } },
        contentType: 'application/merge-patch+json',
      });
      const changes = podChanges(
        cluster,
        { ...worker, resourceVersion, seconds: 30 },
        new AbortController().signal,
      );
      const { value } = await changes.next();
      await changes.return();
      expect(value).toMatchObject([
        { type: 'deleted', pod: { name: worker.name, worker: { instance: worker.instance } } },
      ]);
    });
  });
}
