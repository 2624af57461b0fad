import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { playInCluster } from '@paddock/demo/play-in-cluster';
import { findInstance } from '@paddock/db/instance';
import { findAssets } from '@paddock/testing/played-nodes';
import { type ChartObject, HELM } from '@paddock/testing/render-chart';
import { sharedAppKey } from '@paddock/testing/stand-ins';
import { waitFor } from '@paddock/testing/wait-for';
import { endpointsOf, playService } from '../scenes/chart-cluster.scene.ts';
import {
  createKubelet,
  type Kubelet,
  type PlayedContainer,
  type PlayedPod,
  runContainer,
  startContainer,
} from '../scenes/kubelet.scene.ts';
import {
  NAMESPACE,
  type PlayedRelease,
  RUNNERS,
  secret,
  startPlayedRelease,
} from '../scenes/played-release.scene.ts';

const JOBS = 50;
const isOf = ({ pod }: PlayedContainer, service: string): boolean =>
  pod.metadata.name.startsWith(`paddock-${service}-`);
const assets = findAssets();
const described = HELM === undefined || assets === undefined ? describe.skip : describe;

described('the chart, run as rendered (H1; needs helm, and KUBEBUILDER_ASSETS with kwok)', () => {
  let release: PlayedRelease;
  let service: ChartObject;
  let proxy: Awaited<ReturnType<typeof playService>>;
  let kubelet: Kubelet;

  const deployments = () =>
    release.cluster.list('Deployment', NAMESPACE, 'app.kubernetes.io/instance=paddock');
  /** Whether each Deployment has two pods, and both are new and available. */
  const isRolledOut = async (): Promise<boolean> =>
    (await deployments()).every(({ metadata, status = {} }) => {
      const { generation: observedGeneration } = metadata as { generation?: number };
      const now = { observedGeneration, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
      return Object.entries(now).every(
        ([key, value]) => (status as Record<string, unknown>)[key] === value,
      );
    });
  const completed = async (): Promise<number> => (await release.github.report()).completed;
  const LABELS = ['self-hosted', 'linux'];
  const queueJob = (labels = LABELS, durationMs = 50) =>
    release.github.queueJob({ repo: 'acme/shop', labels, durationMs });
  /** Queues jobs and waits until each has been completed. */
  const completeJobs = async (count: number, labels = LABELS): Promise<void> => {
    for (let job = 0; job < count; job += 1) await queueJob(labels);
    const { jobs } = await release.github.report();
    // On a busy machine all of them may take longer than a test waits for one fact.
    const patience = { timeoutMs: 280_000 };
    await waitFor(`${jobs} completed jobs`, async () => (await completed()) >= jobs, patience);
    await release.github.settled();
  };

  beforeAll(async () => {
    release = await startPlayedRelease(assets ?? '', 'charted');
    service = await release.cluster.read('Service', NAMESPACE, 'paddock-webhook');
    service = { ...service, apiVersion: 'v1', kind: 'Service' };
    proxy = await playService(release.cluster, service, release.addressOf(2));
    await release.sendWebhooksTo(proxy.url);
  });
  afterAll(async () => {
    await kubelet?.endAll();
    await proxy?.stop();
    await release?.stop();
  });

  test('a migrator that may not create roles says which statements do; after these it ends well (A10)', () => {
    const [poor, well] = release.migrated;
    expect([poor, well]).toMatchObject([{ code: 0 }, { code: 0 }]);
    expect(poor?.output).toContain('create role charted_ingress nologin;');
    expect(well?.output).not.toContain('create role');
  });

  test('every replica becomes ready, so each Deployment is available', async () => {
    const { cluster, addressOf } = release;
    kubelet = createKubelet({
      cluster,
      namespace: NAMESPACE,
      addressOf: (number) => addressOf(30 + number),
      service,
    });
    await waitFor('each Deployment to have two available replicas', async () => {
      await kubelet.look();
      return isRolledOut();
    });
    const led = await waitFor('the Service to lead to both replicas', async () => {
      const found = await endpointsOf(cluster, service);
      return found.length > 1 && found;
    });
    expect(led).toHaveLength(2);
  });

  test('NOTES lead an operator to the page: first token, Service and path (F1, H1)', async () => {
    const { cluster, notes } = release;
    const [, deployment = '', command = ''] =
      /kubectl exec -n paddock deployment\/(\S+) -- (.+)/.exec(notes) ?? [];
    const pod = kubelet.running().find((one) => one.pod.metadata.name.startsWith(`${deployment}-`));
    const made = await pod?.exec(command.replace('NAME', 'ada').split(' '));
    expect(made).toEqual({ code: 0, output: expect.stringMatching(/^paddock_\S+\n$/) });

    const [, name = ''] = /port-forward -n paddock service\/(\S+) 8084:80/.exec(notes) ?? [];
    const [, path = ''] = /http:\/\/localhost:8084(\/\S*)/.exec(notes) ?? [];
    const authorization = `Bearer ${made?.output.trim()}`;
    const endpoints = await endpointsOf(cluster, await cluster.read('Service', NAMESPACE, name));
    expect(endpoints).toHaveLength(2);
    for (const { host, port } of endpoints) {
      const url = `http://${host}:${port}${path}`;
      const page = await fetch(url, { headers: { accept: 'text/html' } });
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(path)]);
      expect((await fetch(`${url}api/v1/pools`)).status).toBe(401);
      const pools = await fetch(`${url}api/v1/pools`, { headers: { authorization } });
      expect(await pools.json()).toMatchObject({ items: [{ name: 'linux', cap: { limit: 30 } }] });
      const session = await fetch(`${url}session`, { method: 'POST', headers: { authorization } });
      expect([session.status, await session.json()]).toEqual([
        200,
        { person: 'token ada', access: 'operate', isSession: true },
      ]);
    }
  });

  test('the pod of `helm test` ends well, and not with a wrong secret', async () => {
    const { cluster, addressOf, rendered } = release;
    const hook = rendered.find(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test');
    const pod = (await cluster.apply(hook as ChartObject)) as PlayedPod;
    const hosts = { [service.metadata.name]: addressOf(2) };
    const place = { cluster, address: addressOf(3), hosts };
    expect(await runContainer(place, pod)).toMatchObject({
      code: 0,
      output: expect.stringContaining('answered 200'),
    });
    await cluster.apply(secret('wrong', { 'webhook-secret': 'a wrong one' }));
    const wrong = JSON.parse(
      JSON.stringify(pod).replaceAll('"secretName":"paddock-github"', '"secretName":"wrong"'),
    ) as PlayedPod;
    expect(await runContainer(place, wrong)).toMatchObject({
      code: 1,
      output: expect.stringContaining('answered 401'),
    });
  });

  test('a service whose Secret lacks its key says so, and is ready once the key is there (H1, H3)', async () => {
    const { cluster, addressOf } = release;
    const { pod } = kubelet.running().find((one) => isOf(one, 'scheduler')) ?? {};
    await cluster.apply(secret('lacking', { 'webhook-secret': 'of ingress' }));
    const lacking = JSON.parse(
      JSON.stringify(pod).replaceAll('"secretName":"paddock-github"', '"secretName":"lacking"'),
    ) as PlayedPod;
    const container = await startContainer({ cluster, address: addressOf(4) }, lacking);
    try {
      const readiness = await waitFor('an answer about its readiness', () =>
        fetch(`http://${container.address}:8081/readyz`).catch(() => undefined),
      );
      expect([readiness.status, await readiness.text()]).toEqual([
        503,
        expect.stringContaining('/etc/paddock/app/private-key.pem'),
      ]);
      const { privateKeyPem } = sharedAppKey();
      await cluster.patch(secret('lacking', {}), {
        stringData: { 'private-key.pem': privateKeyPem },
      });
      await container.refresh();
      await container.untilReady();
    } finally {
      await container.end();
    }
  });

  test('50 jobs go through, and no call is forbidden (P1, P3)', async () => {
    const { cluster, github, database } = release;
    const { kubeconfigFile } = cluster.real;
    const played = playInCluster(kubeconfigFile, RUNNERS, await findInstance(database.db));
    try {
      await completeJobs(JOBS);
    } finally {
      await played.stop();
    }
    expect(await github.report()).toMatchObject({ completed: JOBS, lost: 0, excessWorkers: 0 });
    const ran = await database.db
      .selectFrom('workers')
      .select('assigned_job_id')
      .where('assigned_job_id', 'is not', null)
      .execute();
    expect(new Set(ran.map((row) => row.assigned_job_id)).size).toBe(JOBS);
    expect(ran).toHaveLength(JOBS);
    const lines = kubelet.running().flatMap(({ program }) => program.lines());
    expect(lines.filter((line) => line.includes('"forbidden"'))).toEqual([]);
  });

  test('each ends well within its grace period', async () => {
    await kubelet.endAll();
    expect(kubelet.ends).toEqual(Array.from({ length: 8 }, () => ({ code: 0, signal: null })));
  });
});
