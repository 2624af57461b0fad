import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUNNER_SETS, SCALE_SET } from '@paddock/cli/import/files.scene';
import { runCommand } from '@paddock/cli/run-command';
import { findInstance } from '@paddock/db/instance';
import { playInCluster } from '@paddock/demo/play-in-cluster';
import { createAppKey } from '@paddock/simulators/github/app-key';
import { findAssets } from '@paddock/testing/played-nodes';
import { CHART, HELM } from '@paddock/testing/render-chart';
import { sharedAppKey } from '@paddock/testing/stand-ins';
import { waitFor } from '@paddock/testing/wait-for';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'yaml';
import { type ChartCluster, endpointsOf, playService } from '../scenes/chart-cluster.scene.ts';
import { APP, POOL } from '../scenes/chart-releases.scene.ts';
import { createKubelet, type Kubelet } from '../scenes/kubelet.scene.ts';
import {
  APP_ID,
  NAMESPACE,
  OTHER_APP_ID,
  type PlayedRelease,
  RUNNERS,
  WEBHOOK_SECRET,
  secret,
  startPlayedRelease,
} from '../scenes/played-release.scene.ts';

const NEXT_RUNNERS = 'next-runners';
const OF_RELEASE = 'app.kubernetes.io/part-of=paddock.paddock';
const LABELS = ['self-hosted', 'linux'];
const MOVED = { ...POOL, labels: LABELS, image: 'runner:1', namespace: NEXT_RUNNERS };
const IN_USE = 'the changed secret of a GitHub App is in use';

/** Takes a step again and again. Resolves `stop` after the last one; rejects it if one failed. */
function repeat(everyMs: number, step: () => Promise<unknown>): { stop(): Promise<void> } {
  const over = new AbortController();
  const steps = (async () => {
    for (; !over.signal.aborted; await pause(everyMs)) await step();
  })();
  steps.catch(() => undefined);
  return {
    stop: async () => {
      over.abort();
      await steps;
    },
  };
}

const selects = (labels: Readonly<Record<string, string>> = {}, of: object = {}): boolean =>
  Object.entries(labels).every(([key, value]) => Reflect.get(of, key) === value);

/** Looks for running pods of runners that no policy or no budget selects. */
function guardPods(cluster: ChartCluster) {
  const found: string[] = [];
  const seen = new Set<string>();
  let looks = 0;
  const { stop } = repeat(100, async () => {
    // Before the pods: what comes after a pod has not been there for it.
    const [policies = [], budgets = []] = await Promise.all(
      ['NetworkPolicy', 'PodDisruptionBudget'].map((kind) => cluster.list(kind, '', OF_RELEASE)),
    );
    looks += 1;
    for (const { metadata, status } of await cluster.list('Pod', '', OF_RELEASE)) {
      if ((status as { phase?: string } | undefined)?.phase !== 'Running') continue;
      seen.add(metadata.name);
      const here = policies
        .concat(budgets)
        .filter(
          ({ metadata: { namespace }, spec }) =>
            namespace === metadata.namespace &&
            selects((spec?.podSelector ?? spec?.selector)?.matchLabels, metadata.labels),
        );
      if (new Set(here.map(({ kind }) => kind)).size < 2)
        found.push(`${metadata.namespace}/${metadata.name} at look ${looks}`);
    }
  });
  return { found, seen, looks: () => looks, stop };
}

const assets = findAssets();
const described = HELM === undefined || assets === undefined ? describe.skip : describe;

described(
  'the first month, with helm and jobs that go on (H1, H5, H6; needs helm, and KUBEBUILDER_ASSETS with kwok)',
  () => {
    let release: PlayedRelease;
    let kubelet: Kubelet;
    let proxy: Awaited<ReturnType<typeof playService>>;
    let guard: ReturnType<typeof guardPods>;
    let config: PlayedRelease['values']['config'];
    let long: number;
    const undo: (() => Promise<unknown>)[] = [];
    const ofGitHub = (app: object, ...others: object[]) => ({
      github: { apiUrl: release.github.url, apps: [{ ...APP, id: APP_ID, ...app }, ...others] },
    });

    beforeAll(async () => {
      release = await startPlayedRelease(assets ?? '', 'month', 1);
      const { cluster, github, addressOf, values } = release;
      config = values.config;
      const service = {
        ...(await cluster.read('Service', NAMESPACE, 'paddock-webhook')),
        apiVersion: 'v1',
        kind: 'Service',
      };
      proxy = await playService(cluster, service, addressOf(2));
      undo.push(proxy.stop);
      for (const id of [APP_ID, OTHER_APP_ID]) await release.sendWebhooksTo(proxy.url, id);
      kubelet = createKubelet({
        cluster,
        namespace: NAMESPACE,
        addressOf: (number) => addressOf(30 + number),
        service,
      });
      undo.push(() => kubelet.endAll());
      const running = repeat(1_000, async () => {
        await kubelet.look();
        // One that is deleted meanwhile may have lost its account.
        await Promise.allSettled(kubelet.running().map(({ refresh }) => refresh()));
      });
      undo.push(running.stop);
      await cluster.makeNamespace(NEXT_RUNNERS);
      const instance = await findInstance(release.database.db);
      for (const namespace of [RUNNERS, NEXT_RUNNERS])
        undo.push(playInCluster(cluster.real.kubeconfigFile, namespace, instance).stop);
      guard = guardPods(cluster);
      await waitFor('all replicas, and the way to them', async () => {
        const led = await endpointsOf(cluster, service);
        return kubelet.running().length === 5 && led.length === 2;
      });
      // One job waits or runs at any moment.
      const traffic = repeat(300, async () => {
        const { jobs, completed } = await github.report();
        if (jobs - completed < 2) await queueJob('acme/shop');
      });
      undo.push(traffic.stop);
    });
    afterAll(async () => {
      for (const step of [guard?.stop ?? (() => Promise.resolve()), ...undo.toReversed()])
        await step();
      await release?.stop();
    });

    const queueJob = (repo: string, durationMs = 50) =>
      release.github.queueJob({ repo, labels: LABELS, durationMs });
    const jobOf = async (id: number) =>
      (await release.github.truth()).jobs.find((job) => job.id === id);
    /** Resolves with its conclusion. */
    const completeJob = async (repo: string) => {
      const { id } = await queueJob(repo);
      return waitFor(`job ${id}`, async () => (await jobOf(id))?.conclusion ?? false);
    };
    /** Changes the configuration as `helm upgrade` does; returns what helm says. */
    const upgrade = (changes: object, chart = CHART): Promise<string> => {
      config = { ...config, ...changes };
      return release.helm('upgrade', [chart, '--wait', '--timeout', '4m'], { config });
    };
    /** Changes keys of the App's Secret, as `put` of rotate.md does. */
    const put = (data: object) =>
      release.cluster.patch(secret('paddock-github', {}), { stringData: data });
    const linesOf = (service: string, said: string): number[] =>
      kubelet
        .running()
        .filter(({ pod }) => pod.metadata.name.startsWith(`paddock-${service}-`))
        .map(({ program }) => program.lines().filter((line) => line.includes(said)).length);
    /** Makes a change, and waits until each replica has logged once more that it is in use. */
    const bring = async (services: readonly string[], data: object): Promise<void> => {
      const before = new Map(services.map((service) => [service, linesOf(service, IN_USE)]));
      await put(data);
      await waitFor(`${services.join()} to use it`, () =>
        services.every((service) =>
          linesOf(service, IN_USE).every((n, nth) => n > (before.get(service)?.[nth] ?? 0)),
        ),
      );
    };

    test('rotates the webhook secret', async () => {
      const next = 'another secret of the chart for tests';
      const file = { file: '/etc/paddock/webhook/previous-webhook-secret' };
      await put({ 'previous-webhook-secret': WEBHOOK_SECRET });
      await upgrade(ofGitHub({ previousWebhookSecret: file }));
      await bring(['ingress'], { 'webhook-secret': next });
      await release.github.setApp(APP_ID, { webhookSecret: next });
      await put({ 'previous-webhook-secret': next });
      expect(await completeJob('acme/shop')).toBe('success');
    });

    test('rotates the private key', async () => {
      const { publicKeyPem: old } = sharedAppKey();
      const { publicKeyPem, privateKeyPem } = createAppKey();
      await release.github.setApp(APP_ID, { publicKeyPem: old + publicKeyPem });
      await bring(['scheduler', 'reconciler'], { 'private-key.pem': privateKeyPem });
      await release.github.setApp(APP_ID, { publicKeyPem });
      expect(await completeJob('acme/shop')).toBe('success');
    });

    test('adds an App', async () => {
      const { publicKeyPem, privateKeyPem } = createAppKey();
      const webhookSecret = 'a secret of the other App for tests';
      await release.github.setApp(OTHER_APP_ID, { publicKeyPem, webhookSecret });
      await put({ 'other-secret': webhookSecret, 'other-key.pem': privateKeyPem });
      const other = {
        id: OTHER_APP_ID,
        webhookSecret: { file: '/etc/paddock/webhook/other-secret' },
        privateKey: { file: '/etc/paddock/app/other-key.pem' },
      };
      await upgrade({ ...ofGitHub({}, other), entities: { acme: {}, beta: {} } });
      expect(await completeJob('beta/shop')).toBe('success');
    });

    test('moves a pool whose job runs', async () => {
      const { cluster } = release;
      long = (await queueJob('acme/shop', 3_600_000)).id;
      const runner = await waitFor(
        'its runner',
        async () => (await jobOf(long))?.runnerName ?? false,
      );
      const said = await upgrade({ pools: [MOVED] });
      expect(said).toContain(`No pool makes runners in the namespace ${RUNNERS} now.`);
      await waitFor('a runner in the new namespace', async () => {
        const pods = await cluster.list('Pod', NEXT_RUNNERS, OF_RELEASE);
        return pods.some(({ metadata }) => guard.seen.has(metadata.name));
      });
      expect(await cluster.read('Pod', RUNNERS, runner)).toMatchObject({
        status: { phase: 'Running' },
      });
    });

    test('removes the pool whose job runs, and calls GitHub elsewhere, without a restart', async () => {
      const { length: ended } = kubelet.ends;
      const apiUrl = release.github.url.replace('127.0.0.1', 'localhost');
      await upgrade({ pools: [{ ...MOVED, name: 'next' }], github: { ...config.github, apiUrl } });
      await waitFor('the address in each scheduler and reconciler', () =>
        ['scheduler', 'reconciler'].every((service) =>
          linesOf(service, 'a GitHub App is called at the changed apiUrl').every((n) => n > 0),
        ),
      );
      await waitFor('a worker of the new pool', async () => {
        const worker = release.database.db.selectFrom('workers').where('k8s_pool', '=', 'next');
        return worker.select('pod_name').limit(1).executeTakeFirst();
      });
      expect(await completeJob('beta/shop')).toBe('success');
      expect(await jobOf(long)).toMatchObject({ status: 'in_progress' });
      expect(kubelet.ends).toHaveLength(ended);
    });

    test('takes jobs over from actions-runner-controller by a variable, and gives them back', async () => {
      const { github } = release;
      const { pools, entities } = config;
      const folder = mkdtempSync(join(tmpdir(), 'paddock-arc-'));
      const file = (name: string, text: string): string => {
        writeFileSync(join(folder, name), text);
        return join(folder, name);
      };
      const reading = 'get autoscalingrunnersets -A -o yaml';
      /** Runs ten jobs at once, and returns whether each was ours. */
      const completeTen = async (label: string): Promise<boolean[]> => {
        // The other controller has runners for its own label.
        const rival = label === 'linux-x64' ? { rivalMs: 50 } : {};
        const ids: number[] = [];
        for (let n = 0; n < 10; n += 1) {
          const job = { repo: 'acme/shop', labels: [label], durationMs: 50, ...rival };
          ids.push((await github.queueJob(job)).id);
        }
        const truths = () => Promise.all(ids.map(jobOf));
        await waitFor('ten jobs', async () => (await truths()).every((job) => job?.conclusion));
        return (await truths()).map((job) => job?.runnerName?.startsWith('pdk-') ?? false);
      };
      try {
        kubectl(`apply -f ${file('crd.yaml', RUNNER_SETS)}`);
        kubectl('wait --for=condition=Established crd/autoscalingrunnersets.actions.github.com');
        kubectl(
          `apply -f ${file('set.yaml', SCALE_SET.replace('minRunners: 2', 'minRunners: 0'))}`,
        );
        const old = kubectl(reading);
        const imported = await runCommand(
          ['pools', 'import', file('arc.yaml', old), '--prefix', 'next-'],
          {},
        );
        const made = file('paddock.yaml', imported.stdout);
        expect(await runCommand(['pools', 'check', made], {})).toMatchObject({ code: 0 });
        const next = parse(imported.stdout) as Pick<typeof config, 'pools' | 'entities'>;
        await upgrade({
          pools: [...pools, ...next.pools],
          entities: { ...entities, ...next.entities },
        });
        expect(await completeTen('next-linux-x64')).toEqual(Array.from({ length: 10 }, () => true));
        expect(await completeTen('linux-x64')).toEqual(Array.from({ length: 10 }, () => false));
        expect(kubectl(reading)).toBe(old);
        await upgrade({ pools, entities });
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    test('upgrades to the next version, and goes back', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'paddock-chart-'));
      try {
        const chart = join(folder, 'next');
        cpSync(CHART, chart, { recursive: true });
        const file = join(chart, 'Chart.yaml');
        writeFileSync(
          file,
          readFileSync(file, 'utf8').replaceAll(/^(v|appV)(ersion): .*/gm, '$1$2: 9.9.9'),
        );
        await Promise.all([upgrade({}, chart), release.migrate()]);
        await untilAllRun((version) => version === ':9.9.9');
      } finally {
        rmSync(folder, { recursive: true });
      }
      expect(await completeJob('acme/shop')).toBe('success');
      await Promise.all([release.helm('rollback', ['--wait']), release.migrate()]);
      await untilAllRun((version) => version !== ':9.9.9');
      expect(await completeJob('beta/shop')).toBe('success');
      expect(await jobOf(long)).toMatchObject({ status: 'in_progress' });
    });

    const untilAllRun = (isRight: (version: string | undefined) => boolean): Promise<boolean> =>
      waitFor('the other version to end', () =>
        kubelet
          .running()
          .every(({ pod }) => isRight(/:[^:]*$/.exec(pod.spec.containers[0].image)?.[0])),
      );

    test('ends: no delivery was refused, no job lost, no pod without its guards, and nothing is left', async () => {
      const { github } = release;
      await github.cancelJob(long);
      await undo.pop()?.(); // the traffic
      await waitFor('all jobs', async () => (await github.report()).lost === 0);
      await github.settled();
      const console = kubelet.running().find(({ pod }) => pod.metadata.name.includes('console'));
      for (const words of ['pause environment', 'drain pool next'])
        expect(
          await console?.exec(
            ['node', 'apps/cli/dist/main.mjs'].concat(words.split(' '), '--note', 'uninstalling'),
          ),
        ).toMatchObject({ code: 0 });
      const running = `get pods -A -o name -l ${OF_RELEASE} --field-selector status.phase=Running`;
      await waitFor('no runner', () => kubectl(running) === '');
      await release.helm('uninstall', ['--wait']);
      await waitFor('the end of all services', () => kubelet.running().length === 0);

      const { deliveries, jobs } = await github.truth();
      expect(proxy.failures).toEqual([]);
      expect(deliveries.filter(({ statusCode }) => statusCode !== 200)).toEqual([]);
      expect(jobs.filter(({ killed }) => killed)).toEqual([]);
      expect(jobs.filter(({ conclusion }) => conclusion !== 'success')).toMatchObject([
        { id: long },
      ]);
      await guard.stop();
      expect(guard.found).toEqual([]);
      expect(guard.seen).toContain(jobs.find(({ id }) => id === long)?.runnerName);
      process.stdout.write(
        `${guard.looks()} looks at ${guard.seen.size} pods of ${jobs.length} jobs\n`,
      );

      const page = readFileSync(join(CHART, '../../../docs/uninstall.md'), 'utf8');
      for (const [, command = ''] of page.matchAll(/`kubectl (delete [^`]*)`/g)) kubectl(command);
      const kinds =
        'all,secret,configmap,serviceaccount,role,rolebinding,networkpolicy,poddisruptionbudget';
      await waitFor('nothing to be left', () =>
        [OF_RELEASE, 'app.kubernetes.io/instance=paddock'].every(
          (labels) => kubectl(`get ${kinds} -A -o name -l ${labels}`) === '',
        ),
      );
      for (const namespace of [RUNNERS, NEXT_RUNNERS])
        expect(kubectl(`get secret,pod -n ${namespace} -o name`)).toBe('');
    });

    const kubectl = (command: string): string => {
      const { status, stdout, stderr } = spawnSync(
        join(String(assets), 'kubectl'),
        ['--kubeconfig', release.cluster.real.kubeconfigFile, ...command.split(' ')],
        { encoding: 'utf8' },
      );
      expect([status, stderr.replaceAll(/^Warning.*\n/gm, '')]).toEqual([
        0,
        expect.stringMatching(/^(No resources found.*\n)?$/),
      ]);
      return stdout;
    };
  },
);
