import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { createPoolsLoader } from '../pools/load-pools.ts';
import { describeReal } from '../scenes/real-cluster.scene.ts';
import { useEvidence } from '../scenes/use-scheduler-world.scene.ts';

const RUNNERS = '/api/v1/namespaces/runners';
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const NEW_PODS = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['pods'],
};

describeReal('a real API server that refuses a pod', { hasNode: false }, (world) => {
  const seen = useEvidence(world);
  /** Asked about each new pod, it answers that it is broken. */
  let broken: ReturnType<typeof createServer>;
  beforeAll(async () => {
    const { certFile, keyFile } = world.real.certificate;
    const certificate = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
    broken = createServer(certificate, (_request, response) =>
      response.writeHead(500).end('broken'),
    );
    broken.listen(0, '127.0.0.1');
    await once(broken, 'listening');
  });
  afterAll(() => {
    broken.closeAllConnections();
    broken.close();
  });

  const setQuota = async () => {
    const hard = { pods: '0' };
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'full' } };
    await world.admin('POST', `${RUNNERS}/resourcequotas`, { ...quota, spec: { hard } });
    // As the controller would, which does not run here.
    const status = { hard, used: hard };
    await world.admin('PATCH', `${RUNNERS}/resourcequotas/full/status`, { status });
  };
  const installWebhook = () =>
    world.admin('POST', WEBHOOKS, {
      metadata: { name: 'failing' },
      webhooks: [
        {
          name: 'failing.example.test',
          clientConfig: {
            url: `https://127.0.0.1:${(broken.address() as AddressInfo).port}/`,
            caBundle: readFileSync(world.real.certificate.certFile).toString('base64'),
          },
          rules: [NEW_PODS],
          timeoutSeconds: 1,
          failurePolicy: 'Fail',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    });
  /** A refusal comes into force, and out of it, a moment after it was written. */
  const waitUntilRefused = async (isRefused: boolean): Promise<void> => {
    const resources = { limits: { cpu: '1' } };
    const spec = { containers: [{ name: 'runner', image: 'i', resources }] };
    const probe = { metadata: { name: 'probe' }, spec };
    const isTaken = () =>
      world.admin('POST', `${RUNNERS}/pods?dryRun=All`, probe).then(
        () => true,
        () => false,
      );
    await waitFor('the refusal to come or to go', async () => (await isTaken()) !== isRefused);
  };

  test.each([
    [
      'a quota',
      setQuota,
      `${RUNNERS}/resourcequotas/full`,
      /exceeded quota: full, requested: pods=1, used: pods=0, limited: pods=0/,
    ],
    [
      'a webhook that fails, so that the server answers 500',
      installWebhook,
      `${WEBHOOKS}/failing`,
      /: 500 InternalError .*failed calling webhook "failing\.example\.test"/,
    ],
  ])(
    'by %s: the reason has the cluster’s words, and one registration is enough (C11, P4, P5)',
    async (_what, refuse, object, words) => {
      await refuse();
      await waitUntilRefused(true);
      await world.queueJob();
      await world.settle(4);
      expect(await seen.failures()).toEqual([]);
      expect(await seen.runners()).toHaveLength(1);
      expect(await seen.tasks()).toMatchObject([{ attempt: 0 }]);
      const [key, ...others] = await world.failing();
      expect([key, others, await world.outages()]).toMatchObject([{ pool: 'linux' }, [], []]);
      expect(key?.message).toMatch(words);
      expect(key?.pauses).toBeGreaterThan(0);

      // The worker that has its registration tries for the others.
      await world.queueJobs(2);
      for (let pass = 0; pass < 2; pass += 1) await world.match();
      expect(await world.reasons()).toEqual(['workers_failing']);
      await world.settle(2);
      expect(await seen.runners()).toHaveLength(1);

      await world.admin('DELETE', object);
      await waitUntilRefused(false);
      await world.drive('all pods to be made', async () => (await world.pods()).length === 3);
      expect(await seen.runners()).toHaveLength(3);
      expect(await seen.failures()).toEqual([]);
    },
  );

  test('of a value that it cannot read, as the file is loaded: the file is refused with its words (B4, H1)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'paddock-pools-'));
    const path = join(folder, 'paddock.yaml');
    writeFileSync(
      path,
      `github: { apps: [{ id: 1001, webhookSecret: { env: HOOK_SECRET } }] }
pools: [{ name: large, labels: [large], image: i, namespace: runners, resources: { limits: { memory: 16GB } } }]
entities: { '*': {} }`,
    );
    const { db, cluster, events } = world.parts;
    const rest = { refreshMs: 1_000, reconsiderHours: 48 };
    const loader = createPoolsLoader({ db, cluster, events, path, ...rest });
    await loader.once();
    expect(loader.warning()).toMatch(/takes no pod of the pool large: .*quantities must match/);
    rmSync(folder, { recursive: true });
  });
});
