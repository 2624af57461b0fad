import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { examplePools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { look, type Seen } from './evidence.scene.ts';
import { type RealWorld, startRealWorld } from '../following/real-cluster.scene.ts';

const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
const described = assets === '' ? describe.skip : describe;

const RUNNERS = '/api/v1/namespaces/runners';
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const PODS = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };

interface Refusal {
  readonly what: string;
  refuse(world: RealWorld, silent: Server): Promise<unknown>;
  allow(world: RealWorld): Promise<unknown>;
  readonly says: RegExp;
  readonly isClusters?: boolean;
}

const labelNamespace = (world: RealWorld, level: string | null) =>
  world.admin('PATCH', RUNNERS, { metadata: { labels: { 'pod-security.kubernetes.io/enforce': level } } });

const REFUSALS: Refusal[] = [
  {
    what: 'a quota',
    async refuse({ admin }) {
      const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'full' }, spec: { hard: { pods: '0' } } };
      await admin('POST', `${RUNNERS}/resourcequotas`, quota);
      // As the controller would, which does not run here.
      await admin('PATCH', `${RUNNERS}/resourcequotas/full/status`, { status: { hard: { pods: '0' }, used: { pods: '0' } } });
    },
    allow: ({ admin }) => admin('DELETE', `${RUNNERS}/resourcequotas/full`),
    says: /exceeded quota: full, requested: pods=1, used: pods=0, limited: pods=0/,
  },
  {
    what: 'Pod Security',
    refuse: (world) => labelNamespace(world, 'restricted'),
    allow: (world) => labelNamespace(world, null),
    says: /violates PodSecurity "restricted:latest"/,
  },
  {
    what: 'an admission policy',
    async refuse({ admin }) {
      const constraints = { resourceRules: [PODS] };
      const validations = [{ expression: 'false', message: 'Runners belong to the night.' }];
      await admin('POST', `${ADMISSION}/validatingadmissionpolicies`, {
        metadata: { name: 'no-runners' },
        spec: { failurePolicy: 'Fail', matchConstraints: constraints, validations },
      });
      await admin('POST', `${ADMISSION}/validatingadmissionpolicybindings`, {
        metadata: { name: 'no-runners' },
        spec: { policyName: 'no-runners', validationActions: ['Deny'] },
      });
    },
    async allow({ admin }) {
      await admin('DELETE', `${ADMISSION}/validatingadmissionpolicybindings/no-runners`);
      await admin('DELETE', `${ADMISSION}/validatingadmissionpolicies/no-runners`);
    },
    says: /Runners belong to the night/,
  },
  {
    what: 'a template that is none',
    refuse: (world) => {
      const containers = [{ name: 'runner', resources: { limits: { cpu: '-1' } } }];
      return world.putPools(examplePools({ pools: [{ template: { spec: { containers } } }] }));
    },
    allow: (world) => world.putPools(examplePools()),
    says: /spec\.containers\[0\]\.resources\.limits\[cpu\]/,
  },
  {
    what: 'a webhook that does not answer',
    async refuse({ admin, real }, silent) {
      const caBundle = (await readFile(real.certificate.certFile)).toString('base64');
      const clientConfig = { url: `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`, caBundle };
      const webhook = { name: 'slow.example.test', clientConfig, rules: [PODS], timeoutSeconds: 1, failurePolicy: 'Fail' };
      await admin('POST', `${ADMISSION}/validatingwebhookconfigurations`, {
        metadata: { name: 'slow' },
        webhooks: [{ ...webhook, sideEffects: 'None', admissionReviewVersions: ['v1'] }],
      });
    },
    allow: ({ admin }) => admin('DELETE', `${ADMISSION}/validatingwebhookconfigurations/slow`),
    says: /failed calling webhook "slow\.example\.test"|no answer from/,
    isClusters: true,
  },
];

described('a real API server that refuses a pod (needs KUBEBUILDER_ASSETS)', () => {
  let world: RealWorld;
  let seen: Seen;
  let silent: Server;
  beforeAll(async () => {
    world = await startRealWorld(assets, {});
    const { certFile, keyFile } = world.real.certificate;
    silent = createServer({ cert: await readFile(certFile), key: await readFile(keyFile) }, () => undefined);
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
  });
  afterAll(async () => {
    silent.closeAllConnections();
    silent.close();
    await world.stop();
  });
  beforeEach(async () => {
    await world.reset();
    seen = await look(world);
  });

  /** Policies and webhooks come into force, and out of it, a moment after they were written. */
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

  test.each(REFUSALS)('by $what: the cluster’s words are the reason, and one registration is enough (C11, P4, P5)', async (refusal) => {
    const { refuse, allow, says, isClusters = false } = refusal;
    await refuse(world, silent);
    if (refusal.what !== 'a template that is none') await waitUntilRefused(true);
    await world.queueJob();
    await world.settle(4);

    expect(await seen.failures()).toEqual([]);
    expect(await seen.runners()).toHaveLength(1);
    expect((await seen.tasks()).map(({ attempt }) => attempt)).toEqual([0]);
    const subject = isClusters ? 'cluster' : 'pool';
    const breakers = await world.db.selectFrom('breakers').select(['subject_type', 'message', 'pauses']).execute();
    expect(breakers.map(({ subject_type: type }) => type)).toEqual([subject]);
    expect(breakers[0]?.message).toMatch(says);
    expect(breakers[0]?.pauses).toBeGreaterThan(0);

    // Others find the breaker open; the trial asks the cluster first.
    await world.queueJob();
    await world.queueJob();
    for (let pass = 0; pass < 2; pass += 1) await world.match();
    const keys = await world.db.selectFrom('demand_keys').select('wait_reason').execute();
    expect(keys.map(({ wait_reason: reason }) => reason)).toEqual([isClusters ? 'cluster_unavailable' : 'pool_failing']);
    await world.settle(2);
    expect(await seen.runners()).toHaveLength(1);

    await allow(world);
    await waitUntilRefused(false);
    await world.drive('all pods to be made', async () => (await world.pods()).length === 3);
    expect(await seen.runners()).toHaveLength(3);
    expect(await seen.failures()).toEqual([]);
  });
});
