import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { startKubeSimulator } from '@paddock/simulators/kube/start-kube-simulator';
import { waitFor } from '@paddock/testing/wait-for';
import { connectCluster } from './connect.ts';
import { watchPods, type PodEvent } from './watch-pods.ts';
import { here } from './scenes/simulated-cluster.scene.ts';

const done = (): Promise<void> => Promise.resolve();

test('a server that goes silent within a watch is noticed when the time of the watch is over', async () => {
  let watches = 0;
  const silent = createServer((request, response) => {
    if (request.url?.includes('watch=true') !== true)
      response.end(JSON.stringify({ metadata: { resourceVersion: '5' }, items: [] }));
    else {
      watches++;
      response.flushHeaders();
    }
  });
  await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
  const { port } = silent.address() as AddressInfo;
  const simulator = await startKubeSimulator();
  const kubeconfigFile = simulator.writeKubeconfig();
  const cluster = connectCluster({
    kubeconfigFile,
    server: `http://127.0.0.1:${port}`,
    requestTimeoutMs: 50,
  });
  const over = new AbortController();
  const watching = watchPods(
    cluster,
    { ...here, onList: done, onChanges: done, watchSeconds: 1 },
    over.signal,
  );
  await waitFor('a second watch', () => watches === 2);
  over.abort();
  await expect(watching).resolves.toBeUndefined();
  cluster.close();
  silent.closeAllConnections();
  await new Promise((closed) => silent.close(closed));
  await simulator.stop();
});

const event = (version: number) =>
  `${JSON.stringify({ type: 'ADDED', object: { metadata: { name: `pod-${version}`, resourceVersion: String(version) } } })}\n`;

test('changes that came while earlier ones were handled, before the connection broke, are passed on and not asked for again (C8)', async () => {
  const versions: string[] = [];
  const broken = Promise.withResolvers<void>();
  const handling = Promise.withResolvers<void>();
  const breaking = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://cluster');
    if (!searchParams.has('watch'))
      response.end(JSON.stringify({ metadata: { resourceVersion: '5' }, items: [] }));
    else if (versions.push(searchParams.get('resourceVersion') ?? '') > 1) response.flushHeaders();
    else {
      response.write(event(6));
      request.socket.once('close', broken.resolve);
      void handling.promise.then(() =>
        response.write(event(7) + event(8) + event(9).slice(0, 20), () => request.socket.destroy()),
      );
    }
  });
  await new Promise<void>((listening) => breaking.listen(0, '127.0.0.1', listening));
  const { port } = breaking.address() as AddressInfo;
  const simulator = await startKubeSimulator();
  const cluster = connectCluster({
    kubeconfigFile: simulator.writeKubeconfig(),
    server: `http://127.0.0.1:${port}`,
    requestTimeoutMs: 5_000,
  });
  const over = new AbortController();
  const told: string[] = [];
  const onChanges = async (changes: readonly PodEvent[]): Promise<void> => {
    told.push(...changes.map(({ pod }) => pod.name));
    handling.resolve();
    await broken.promise;
  };
  const watching = watchPods(
    cluster,
    { ...here, onList: done, onChanges, backoffMs: { first: 1, most: 5 } },
    over.signal,
  );
  await waitFor('a second watch', () => versions.length === 2);
  over.abort();
  await watching;
  expect(told).toEqual(['pod-6', 'pod-7', 'pod-8']);
  expect(versions).toEqual(['5', '8']);
  cluster.close();
  breaking.closeAllConnections();
  await new Promise((closed) => breaking.close(closed));
  await simulator.stop();
});
