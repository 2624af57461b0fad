import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { useHttpServer } from '@paddock/testing/use-http-server';
import { type Cluster, connectCluster } from './connect.ts';
import { classifyKubeError } from './errors.ts';
import { podChanges } from './pod-changes.ts';
import { createPod, findPod, listPods } from './pods.ts';
import { kubeconfigWriter } from './scenes/simulated-cluster.scene.ts';
import { useFolder } from '@paddock/testing/use-folder';

const PLACE = { namespace: 'runners', name: 'pdk-1' };
const metadata = { ...PLACE, uid: 'u', resourceVersion: '7' };
const spec = { containers: [{ name: 'runner' }] };
const POD = { kind: 'Pod', metadata, spec, status: { phase: 'Running' } };

let asked: number;
let answer: (url: URL) => string;
const server = useHttpServer((request, response) => {
  asked += 1;
  response
    .setHeader('content-type', 'application/json')
    .end(answer(new URL(request.url ?? '', server.url)));
});
const folder = useFolder();
let cluster: Cluster;
beforeEach(() => {
  asked = 0;
  const kubeconfigFile = kubeconfigWriter(folder)('config', server.url);
  cluster = connectCluster({ kubeconfigFile, requestTimeoutMs: 60_000 });
});
afterEach(() => cluster.close());

const here = { namespace: 'runners', instance: 'a' };
const failureOf = (call: Promise<unknown>) => call.then(() => undefined, classifyKubeError);
const list = () => failureOf(listPods(cluster, here));

describe('an answer that is no pod is not read as one that is another, or has not started (P2)', () => {
  test.each<[string, object]>([
    ['a Status', { kind: 'Status', metadata: {}, reason: 'NotFound', code: 404 }],
    ['a PodList', { kind: 'PodList', metadata: { resourceVersion: '1' }, items: [] }],
    ['a pod without its uid', { ...POD, metadata: { ...metadata, uid: undefined } }],
    ['a pod without its status', { ...POD, status: undefined }],
    ['a pod without its phase', { ...POD, status: {} }],
    ['a pod without its containers', { ...POD, spec: {} }],
    ['a pod whose statuses are no list', { ...POD, status: { phase: 'x', containerStatuses: 1 } }],
    ['a pod whose labels are no texts', { ...POD, metadata: { ...metadata, labels: { a: 1 } } }],
  ])('%s', async (_what, body) => {
    answer = () => JSON.stringify(body);
    const failure = { kind: 'unavailable', message: expect.stringContaining('not a Pod: ') };
    expect(await failureOf(findPod(cluster, PLACE))).toMatchObject(failure);
    expect(await failureOf(createPod(cluster, { metadata: PLACE }))).toMatchObject(failure);
    answer = () =>
      JSON.stringify({ kind: 'PodList', metadata: { resourceVersion: '1' }, items: [body] });
    expect(await list()).toMatchObject(failure);
  });

  test('a phase that nobody knows is no phase before the start', async () => {
    answer = () => JSON.stringify({ ...POD, status: { phase: 'Odd' } });
    expect(await findPod(cluster, PLACE)).toMatchObject({ phase: 'Unknown' });
  });
});

describe('an answer that is no whole list is not read as one without pods (P2)', () => {
  test.each<[string, object]>([
    ['of another kind', { kind: 'Status', metadata: { resourceVersion: '1' }, items: [] }],
    ['without items', { kind: 'PodList', metadata: { resourceVersion: '1' } }],
    ['of nothing', { kind: 'PodList', metadata: { resourceVersion: '1' }, items: null }],
    ['without a version', { kind: 'PodList', metadata: {}, items: [] }],
    [
      'that goes on nowhere',
      { kind: 'PodList', metadata: { resourceVersion: '1', continue: 7 }, items: [POD] },
    ],
  ])('one %s', async (_what, body) => {
    answer = () => JSON.stringify(body);
    expect(await list()).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('not a PodList: '),
    });
  });

  test('nor read for ever if it goes in a circle', async () => {
    answer = ({ searchParams }) => {
      const next = searchParams.get('continue') === 'b' ? 'a' : 'b';
      const page = { resourceVersion: '1', continue: next };
      return JSON.stringify({ kind: 'PodList', metadata: page, items: [POD] });
    };
    expect(await list()).toMatchObject({ message: expect.stringContaining('in a circle') });
    expect(asked).toBe(3);
  });
});

test.each([
  ['a change without a version', JSON.stringify({ type: 'ADDED', object: { metadata: {} } })],
  ['a bookmark without a version', JSON.stringify({ type: 'BOOKMARK', object: {} })],
  [
    'a pod without its uid',
    JSON.stringify({ type: 'DELETED', object: { metadata: { uid: 1, resourceVersion: '1' } } }),
  ],
  ['a line of 20 MB without an end', 'x'.repeat(20 * 1024 * 1024)],
])('a watch that sends %s ends', async (_what, line) => {
  answer = () => `${line}${line.length > 1000 ? '' : '\n'}`;
  const from = { ...here, resourceVersion: '1', seconds: 60 };
  const changes = podChanges(cluster, from, new AbortController().signal);
  const failure = await failureOf(changes.next());
  expect(failure).toMatchObject({ kind: 'unavailable' });
  expect(failure?.message.length).toBeLessThan(300);
});
