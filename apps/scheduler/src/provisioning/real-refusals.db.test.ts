import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { createPoolsLoader } from '../pools/load-pools.ts';
import { describeReal } from '../scenes/real-cluster.scene.ts';
import { useEvidence } from '../scenes/use-scheduler-world.scene.ts';

const RUNNERS = '/api/v1/namespaces/runners';
const QUOTA = `${RUNNERS}/resourcequotas/full`;
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
const WEBHOOKS = `${REGISTRATION}/validatingwebhookconfigurations`;
const CHANGING = `${REGISTRATION}/mutatingwebhookconfigurations`;
const NEW_PODS = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['pods'],
};

describeReal('a real API server that refuses a pod', { hasNode: false }, (world) => {
  const seen = useEvidence(world);
  /** The webhook. Asked about each new pod, it answers that it is broken, or else with a patch. */
  let webhook: ReturnType<typeof createServer>;
  beforeAll(async () => {
    const { certFile, keyFile } = world.real.certificate;
    const certificate = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
    webhook = createServer(certificate, (asked, response) => {
      if (asked.url === '/broken') response.writeHead(500).end('broken');
      else void change(asked).then((review) => response.end(JSON.stringify(review)));
    });
    webhook.listen(0, '127.0.0.1');
    await once(webhook, 'listening');
  });
  afterAll(() => {
    webhook.closeAllConnections();
    webhook.close();
  });

  const setQuota = async (more = {}) => {
    const hard = { pods: '0', ...more };
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'full' } };
    await world.admin('POST', `${RUNNERS}/resourcequotas`, { ...quota, spec: { hard } });
    // As the controller would, which does not run here.
    const status = { hard, used: { pods: '0', secrets: '0' } };
    await world.admin('PATCH', `${QUOTA}/status`, { status });
  };
  const installWebhook = (configurations = WEBHOOKS, name = 'failing', path = 'broken') =>
    world.admin('POST', configurations, {
      metadata: { name },
      webhooks: [
        {
          name: `${name}.example.test`,
          clientConfig: {
            url: `https://127.0.0.1:${(webhook.address() as AddressInfo).port}/${path}`,
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
    const probe = { metadata: { name: 'probe' }, spec: PROBE };
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
      () => setQuota(),
      QUOTA,
      /exceeded quota: full, requested: pods=1, used: pods=0, limited: pods=0/,
    ],
    [
      'a webhook that fails, so that the server answers 500',
      () => installWebhook(),
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

  test('by a quota that its own Secret has used up: it has its pod as soon as the quota takes one (C11)', async () => {
    await setQuota({ secrets: '1' });
    await waitUntilRefused(true);
    await world.queueJob();
    await world.settle(4);
    expect((await world.failing())[0]?.pauses).toBeGreaterThan(0);
    const raised = { hard: { pods: '1', secrets: '1' } };
    await world.admin('PATCH', QUOTA, { spec: raised });
    await world.admin('PATCH', `${QUOTA}/status`, { status: raised });
    await waitUntilRefused(false);
    await world.drive('its pod', async () => (await world.pods()).length === 1);
    expect(await seen.runners()).toHaveLength(1);
    await world.admin('DELETE', QUOTA);
  });

  test('by a webhook that relabels new pods: none is kept, and the reason says what changed (C11, H3)', async () => {
    const marks = { labels: { a: 'b' }, annotations: { a: 'b' } };
    const probe = { metadata: { name: 'probe', ...marks }, spec: PROBE };
    const isRelabelled = async () =>
      JSON.stringify(await world.admin('POST', `${RUNNERS}/pods?dryRun=All`, probe)).includes(
        PATCHED,
      );
    await installWebhook(CHANGING, 'relabel', 'change');
    await waitFor('the webhook to be asked', isRelabelled);
    await world.queueJobs(2);
    await world.settle(4);
    expect((await world.failing())[0]?.message).toMatch(
      /changed the new pod runners\/pdk-.*: Paddock's labels and annotations; it added the annotations example\.test\/patched/,
    );
    expect(await world.admin('GET', `${RUNNERS}/pods`)).toMatchObject({ items: [] });

    await world.admin('DELETE', `${CHANGING}/relabel`);
    await waitFor('the webhook to be gone', async () => !(await isRelabelled()));
    await world.drive('both pods to be made', async () => (await world.pods()).length === 2);
    expect(await seen.failures()).toEqual([]);
  });

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
    expect(loader.refusal()).toMatch(/takes no pod of the pool large: .*quantities must match/);
    rmSync(folder, { recursive: true });
  });
});

const PROBE = {
  containers: [{ name: 'runner', image: 'i', resources: { limits: { cpu: '1' } } }],
};
const PATCHED = 'example.test/patched';

/** Relabels a pod, as a policy that knows better what belongs together. */
async function change(asked: IncomingMessage): Promise<object> {
  const { request, ...review } = (await json(asked)) as { request: { uid: string } };
  const patch = [
    { op: 'add', path: '/metadata/labels/paddock.dev~1instance', value: 'other' },
    { op: 'add', path: `/metadata/annotations/${PATCHED.replace('/', '~1')}`, value: 'a' },
  ];
  const patched = { patchType: 'JSONPatch', patch: btoa(JSON.stringify(patch)) };
  return { ...review, response: { uid: request.uid, allowed: true, ...patched } };
}
