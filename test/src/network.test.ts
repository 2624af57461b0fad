import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connectCluster } from '@paddock/kube/connect';
import { listPods } from '@paddock/kube/pods';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import { passOn, startProxy, startSecureServer } from './scenes/loopback-network.scene.ts';

const run = promisify(execFile);
/** Node.js 22.18, the oldest that Paddock runs on, ignores the variable (docs/network.md). */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const describeProxy = major > 22 || minor >= 21 ? describe : describe.skip;

type Secure = Awaited<ReturnType<typeof startSecureServer>>;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paddock-network-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('the way to GitHub (H4)', () => {
  let world: SmallWorld;
  let enterprise: Secure;
  let trusted: string;
  beforeAll(async () => {
    world = await startSmallWorld();
    enterprise = await startSecureServer(passOn('/api/v3', world.github.url));
    trusted = join(folder, 'ca.pem');
    await writeFile(trusted, enterprise.ca);
  });
  afterAll(() => Promise.all([enterprise.close(), world.github.stop()]));

  async function ask(env: NodeJS.ProcessEnv): Promise<string> {
    const words = [
      fileURLToPath(new URL('scenes/ask-github.scene.ts', import.meta.url)),
      `${enterprise.url}/api/v3`,
      String(world.appId),
      world.privateKeyPem,
    ];
    return (await run(process.execPath, words, { env, timeout: 120_000 })).stdout;
  }

  test('trusts an Enterprise Server with a private certificate only by NODE_EXTRA_CA_CERTS', async () => {
    expect(JSON.parse(await ask({ NODE_EXTRA_CA_CERTS: trusted }))).toBeDefined();
    await expect(ask({})).rejects.toThrow(/self.signed certificate|unable to verify/i);
  });

  describeProxy('a proxy (Node.js 22.21 or newer)', () => {
    test('HTTPS_PROXY is taken with NODE_USE_ENV_PROXY, and NO_PROXY spared', async () => {
      const proxy = await startProxy();
      const env = { NODE_EXTRA_CA_CERTS: trusted, NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: proxy.url };
      try {
        await ask({ ...env, NO_PROXY: '127.0.0.1' });
        expect(proxy.targets).toEqual([]);
        await ask(env);
        expect(proxy.targets).toEqual([new URL(enterprise.url).host]);
      } finally {
        await proxy.close();
      }
    });
  });
});

describe('the way to the cluster (H4)', () => {
  const emptyList = {
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: { resourceVersion: '1' },
    items: [],
  };

  test("it goes through the kubeconfig's proxy, and trusts the kubeconfig's certificate only", async () => {
    const server = await startSecureServer(
      (_request, response) => void response.end(JSON.stringify(emptyList)),
    );
    const proxy = await startProxy();
    const list = async (more: object) => {
      const kubeconfigFile = join(folder, 'kubeconfig');
      const config = {
        'current-context': 'c',
        clusters: [{ name: 'c', cluster: { server: server.url, 'proxy-url': proxy.url, ...more } }],
        users: [{ name: 'u', user: { token: 'token' } }],
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      };
      await writeFile(kubeconfigFile, JSON.stringify(config));
      const cluster = connectCluster({ kubeconfigFile, requestTimeoutMs: 20_000 });
      return listPods(cluster, { namespace: 'runners', instance: 'i' }).finally(() =>
        cluster.close(),
      );
    };
    try {
      expect(
        await list({ 'certificate-authority-data': Buffer.from(server.ca).toString('base64') }),
      ).toMatchObject({ pods: [] });
      expect(proxy.targets).toEqual([new URL(server.url).host]);
      await expect(list({})).rejects.toMatchObject({ failure: { kind: 'network' } });
    } finally {
      await Promise.all([server.close(), proxy.close()]);
    }
  });

  test.each([
    ['directly', false],
    ['through a proxy', true],
  ])(
    '%s: a certificate that changes on disk is trusted with the next call',
    async (_way, proxied) => {
      const server = await startSecureServer(
        (_request, response) => void response.end(JSON.stringify(emptyList)),
      );
      const proxy = await startProxy();
      const ca = join(folder, 'authority.crt');
      const kubeconfigFile = join(folder, 'of-file');
      await writeFile(ca, server.ca);
      await writeFile(
        kubeconfigFile,
        JSON.stringify({
          'current-context': 'c',
          clusters: [
            {
              name: 'c',
              cluster: {
                server: server.url,
                'certificate-authority': ca,
                ...(proxied && { 'proxy-url': proxy.url }),
              },
            },
          ],
          users: [{ name: 'u', user: { token: 'token' } }],
          contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
        }),
      );
      const cluster = connectCluster({ kubeconfigFile, requestTimeoutMs: 20_000 });
      const list = () => listPods(cluster, { namespace: 'runners', instance: 'i' });
      try {
        await expect(list()).resolves.toMatchObject({ pods: [] });
        await writeFile(ca, await server.renew());
        await expect(list()).resolves.toMatchObject({ pods: [] });
        expect(proxy.targets).toHaveLength(proxied ? 2 : 0);
      } finally {
        cluster.close();
        await Promise.all([server.close(), proxy.close()]);
      }
    },
  );
});
