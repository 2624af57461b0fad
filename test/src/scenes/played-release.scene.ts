import { rulesVariable } from '@paddock/runtime/rules';
import { startGitHubSimulator } from '@paddock/simulators/github/start-github-simulator';
import { createEmptyDatabase, openMigrated } from '@paddock/testing/database';
import { type ChartObject, renderChart, renderNotes } from '@paddock/testing/render-chart';
import { sharedAppKey } from '@paddock/testing/shared-app-key';
import { randomInt } from 'node:crypto';
import { type ChartCluster, podsOf, startChartCluster } from './chart-cluster.scene.ts';
import { APP, LEAST, POOL, RESTRICTED, inArgoOrder } from './chart-releases.scene.ts';
import { type PlayedPod, runContainer } from './play-container.scene.ts';

export const NAMESPACE = 'paddock';
export const RUNNERS = POOL.namespace;
const SERVICES = ['ingress', 'scheduler', 'reconciler', 'console'] as const;
const APP_ID = 4711;
const SCHEMA = 'charted';
/** On a busy machine a delivery takes longer than GitHub's ten seconds. A refused one fails at once. */
const PATIENCE_MS = 120_000;
const WEBHOOK_SECRET = 'a secret of the chart for tests';

export type PlayedRelease = Awaited<ReturnType<typeof startPlayedRelease>>;

const valuesFor = (apiUrl: string) => {
  // KWOK leaves these pods alone: the test is the kubelet of the services.
  const service = { podAnnotations: { 'test.paddock/start': 'never' } };
  const keys = [...SERVICES, 'migrate'];
  return {
    ...LEAST,
    config: {
      github: { apiUrl, apps: [{ ...APP, id: APP_ID }] },
      pools: [{ ...POOL, labels: ['self-hosted', 'linux'], image: 'runner:1', maxWorkers: 30 }],
      entities: { acme: {} },
    },
    database: {
      logins: Object.fromEntries(
        keys.map((name) => [name, { name: 'paddock-database', key: name }]),
      ),
    },
    settings: { PADDOCK_SCHEMA: SCHEMA, PADDOCK_CONSOLE_PATH_PREFIX: '/paddock' },
    // As long as a delivery may take on a busy machine: until then, the end counts for its job.
    env: Object.entries(rulesVariable({ scheduler: { unexplainedGraceMs: 60_000 } })).map(
      ([name, value]) => ({ name, value }),
    ),
    // Only root may listen at the default, 80.
    webhook: { service: { port: 8000 } },
    ingress: service,
    scheduler: service,
    reconciler: service,
    console: service,
  };
};

export const secret = (name: string, stringData: object): ChartObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: NAMESPACE },
  stringData,
});

/** Installs the chart in a real cluster as `helm install` would, and runs its Job. */
export async function startPlayedRelease(assets: string) {
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    const key = sharedAppKey();
    const app = { appId: APP_ID, publicKeyPem: key.publicKeyPem, webhookSecret: WEBHOOK_SECRET };
    const github = await startGitHubSimulator({ apps: [app], deliveryTimeoutMs: PATIENCE_MS });
    undo.push(github.stop);
    await github.addOrganization({ login: 'acme' });
    await github.addRepository({ owner: 'acme', name: 'shop', private: true });
    await github.install({ appId: APP_ID, account: 'acme', announce: false });
    const empty = await createEmptyDatabase();
    undo.push(() => empty.drop());
    const cluster = await startChartCluster(assets);
    undo.push(cluster.real.stop);

    await cluster.makeNamespace(NAMESPACE, RESTRICTED);
    await cluster.makeNamespace(RUNNERS);
    const { privateKeyPem } = key;
    const data = { 'webhook-secret': WEBHOOK_SECRET, 'private-key.pem': privateKeyPem };
    await cluster.apply(secret('paddock-github', data));
    // The migration makes the services' roles, so one login is for all until then.
    const logins = Object.fromEntries([...SERVICES, 'migrate'].map((name) => [name, empty.url]));
    await cluster.apply(secret('paddock-database', logins));

    const release = { release: 'paddock', namespace: NAMESPACE, set: valuesFor(github.url) };
    const rendered = renderChart(release);
    for (const object of inArgoOrder(rendered)) await cluster.apply(object);

    const network = `127.${randomInt(64, 250)}.${randomInt(0, 250)}`;
    const addressOf = (number: number): string => `${network}.${number}`;
    const [pod] = await podsOf(cluster, NAMESPACE, 'migrate', 1);
    await migrate(cluster, pod as PlayedPod, addressOf(1));
    const database = await openMigrated({ url: empty.url, schema: SCHEMA });
    undo.push(() => database.drop());
    // As the operator makes them: docs/roles.md.
    const urls = SERVICES.map((service) => [service, database.urlOf(service)] as const);
    await cluster.patch(secret('paddock-database', {}), {
      stringData: Object.fromEntries(urls),
    });
    return {
      cluster,
      github,
      database,
      /** What helm has rendered. */
      rendered,
      /** What helm tells the operator. */
      notes: renderNotes(release),
      /** A loopback address that no other test uses. */
      addressOf,
      sendWebhooksTo: (url: string) =>
        github.setApp(APP_ID, { webhookUrl: `${url}/webhooks/github` }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function migrate(cluster: ChartCluster, pod: PlayedPod, address: string): Promise<void> {
  const { code, output } = await runContainer({ cluster, address }, pod);
  if (code !== 0) throw new Error(`The migration ended with exit code ${code}:\n${output}`);
  // Played nodes have the pod running; now it succeeds.
  await cluster.patch(pod, { metadata: { annotations: { 'test.paddock/end': 'succeeded' } } });
}
