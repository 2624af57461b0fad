import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { examplePools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { createPoolsLoader } from '../pools/load-pools.ts';
import { look, type Seen } from '../scenes/evidence.scene.ts';
import { type RealWorld, startRealWorld } from '../scenes/real-cluster.scene.ts';
import { startWebhook, type Webhook } from '../scenes/webhook.scene.ts';

const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
const described = assets === '' ? describe.skip : describe;

const RUNNERS = '/api/v1/namespaces/runners';

interface Webhooks {
  readonly silent: Webhook;
  readonly failing: Webhook;
}

interface Refusal {
  readonly what: string;
  refuse(world: RealWorld, webhooks: Webhooks): Promise<unknown>;
  allow(world: RealWorld, webhooks: Webhooks): Promise<unknown>;
  readonly says: RegExp;
}

const REFUSALS: Refusal[] = [
  {
    what: 'a quota',
    async refuse({ admin }) {
      const quota = {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'full' },
        spec: { hard: { pods: '0' } },
      };
      await admin('POST', `${RUNNERS}/resourcequotas`, quota);
      // As the controller would, which does not run here.
      await admin('PATCH', `${RUNNERS}/resourcequotas/full/status`, {
        status: { hard: { pods: '0' }, used: { pods: '0' } },
      });
    },
    allow: ({ admin }) => admin('DELETE', `${RUNNERS}/resourcequotas/full`),
    says: /exceeded quota: full, requested: pods=1, used: pods=0, limited: pods=0/,
  },
  {
    what: 'an invalid template',
    refuse: (world) => {
      const containers = [{ name: 'runner', resources: { limits: { cpu: '-1' } } }];
      return world.putPools(examplePools({ pools: [{ template: { spec: { containers } } }] }));
    },
    allow: (world) => world.putPools(examplePools()),
    says: /spec\.containers\[0\]\.resources\.limits\[cpu\]/,
  },
  {
    what: 'a webhook that does not answer',
    refuse: (_world, { silent }) => silent.install({ timeoutSeconds: 1 }),
    allow: (_world, { silent }) => silent.remove(),
    says: /failed calling webhook "silent\.example\.test"|no answer from/,
  },
  {
    what: 'a webhook that fails, so that the server answers 500',
    refuse: (_world, { failing }) => failing.install({ timeoutSeconds: 1 }),
    allow: (_world, { failing }) => failing.remove(),
    says: /: 500 InternalError .*failed calling webhook "failing\.example\.test"/,
  },
];

described('a real API server that refuses a pod (needs KUBEBUILDER_ASSETS)', () => {
  let world: RealWorld;
  let seen: Seen;
  let webhooks: Webhooks;
  beforeAll(async () => {
    world = await startRealWorld(assets, {});
    webhooks = {
      silent: await startWebhook(world, 'silent', () => undefined),
      failing: await startWebhook(world, 'failing', (response) =>
        response.writeHead(500).end('It is broken.'),
      ),
    };
  });
  afterAll(async () => {
    for (const webhook of Object.values(webhooks)) webhook.stop();
    await world.stop();
  });
  beforeEach(async () => {
    await world.reset();
    seen = await look(world);
  });

  /** Webhooks come into force, and out of it, a moment after they were written. */
  async function waitUntilRefused(isRefused: boolean): Promise<void> {
    const probe = {
      metadata: { name: 'probe' },
      spec: { containers: [{ name: 'runner', image: 'i', resources: { limits: { cpu: '1' } } }] },
    };
    const isTaken = () =>
      world.admin('POST', `${RUNNERS}/pods?dryRun=All`, probe).then(
        () => true,
        () => false,
      );
    await waitFor('the refusal to come or to go', async () => (await isTaken()) !== isRefused);
  }

  test.each(REFUSALS)(
    'by $what: the reason has the cluster’s words, and one registration is enough (C11, P4, P5)',
    async (refusal) => {
      const { refuse, allow, says } = refusal;
      await refuse(world, webhooks);
      if (refusal.what !== 'an invalid template') await waitUntilRefused(true);
      await world.queueJob();
      await world.settle(4);

      expect(await seen.failures()).toEqual([]);
      expect(await seen.runners()).toHaveLength(1);
      expect((await seen.tasks()).map(({ attempt }) => attempt)).toEqual([0]);
      const [key, ...others] = await world.failing();
      expect([key, others, await world.outages()]).toMatchObject([{ pool: 'linux' }, [], []]);
      expect(key?.message).toMatch(says);
      expect(key?.pauses).toBeGreaterThan(0);

      // The worker that has its registration tries for the others.
      await world.queueJob();
      await world.queueJob();
      for (let pass = 0; pass < 2; pass += 1) await world.match();
      const keys = await world.db.selectFrom('demand_keys').select('wait_reason').execute();
      expect(keys.map(({ wait_reason: reason }) => reason)).toEqual(['workers_failing']);
      await world.settle(2);
      expect(await seen.runners()).toHaveLength(1);

      await allow(world, webhooks);
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
