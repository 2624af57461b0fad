import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WorkerToStop } from '@paddock/db/workers/stopping-workers';
import type { StopEvidence } from '@paddock/domain/workers/stop-steps';
import { type Cluster, connectCluster } from '@paddock/kube/connect';
import { startKubeSimulator } from '@paddock/simulators/kube/start-kube-simulator';
import { type ReadingEvidence, readEvidence, type Seen } from './read-evidence.ts';

/** The cluster's answer to a request for a log. */
let log: { status: number; text: string };
let kube: Awaited<ReturnType<typeof startKubeSimulator>>;
let server: Server;
let cluster: Cluster;
beforeAll(async () => {
  kube = await startKubeSimulator({ namespaces: ['runners'] });
  server = createServer(
    (_request, response) =>
      void response.writeHead(log.status, { 'content-type': 'text/plain' }).end(log.text),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  cluster = connectCluster({
    kubeconfigFile: kube.writeKubeconfig(url),
    requestTimeoutMs: 10_000,
  });
});
afterAll(async () => {
  cluster.close();
  server.closeAllConnections();
  await once(server.close(), 'close');
  await kube.stop();
});

const LISTENING = '2026-01-31 10:26:17Z: Listening for Jobs\n';
const STARTED = new Date('2026-01-31T10:26:00Z');
const LATER = '2026-02-01T00:00:00.000000000Z a line of what the image says\n';

test.each([
  ['shows that its runner waits', { status: 200, text: LISTENING }, 'listening'],
  [
    'shows a job',
    { status: 200, text: `${LISTENING}2026-01-31 10:26:18Z: Running job: build\n` },
    'job_begun',
  ],
  ['is whole, and shows nothing', { status: 200, text: '' }, 'silent'],
  ['has lost its beginning', { status: 200, text: LATER }, 'cut'],
  ['a node has not begun', { status: 400, text: '' }, 'none'],
  ['cannot be had', { status: 500, text: '' }, 'unreadable'],
])(
  'a log that %s: only a whole one proves that there is no job (E5)',
  async (_name, answer, read) => {
    log = answer;
    const worker = { namespace: 'runners', podName: 'pdk-abc123-linux-1' } as WorkerToStop;
    const evidence = { worker: {} } as StopEvidence;
    const seen = { pod: { runnerStartedAt: STARTED } } as Seen;
    const looked = await readEvidence('log', { cluster } as ReadingEvidence, worker, {
      evidence,
      seen,
      signal: AbortSignal.timeout(60_000),
    });
    expect(looked).toEqual({ ...evidence, log: read });
  },
);
