import { rulesVariable } from '@paddock/runtime/rules';
import { startGitHubSimulator } from '@paddock/simulators/github/start-github-simulator';
import { createEmptyDatabase, openMigrated } from '@paddock/testing/database';
import { uniqueDatabaseName, withConnection } from '@paddock/testing/server-connection';
import { type ChartObject, renderChart, renderNotes } from '@paddock/testing/render-chart';
import { sharedAppKey } from '@paddock/testing/shared-app-key';
import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { podsOf, startChartCluster } from './chart-cluster.scene.ts';
import { APP, LEAST, POOL, RESTRICTED, inArgoOrder } from './chart-releases.scene.ts';
import { type PlayedPod, runContainer } from './play-container.scene.ts';

export const NAMESPACE = 'paddock';
export const RUNNERS = POOL.namespace;
const SERVICES = ['ingress', 'scheduler', 'reconciler', 'console'] as const;
export const APP_ID = 4711;
const SCHEMA = 'charted';
/** On a busy machine a delivery takes longer than GitHub's ten seconds. A refused one fails at once. */
const PATIENCE_MS = 120_000;
const WEBHOOK_SECRET = 'a secret of the chart for tests';

export type PlayedRelease = Awaited<ReturnType<typeof startPlayedRelease>>;

const valuesFor = (apiUrl: string) => {
  // KWOK leaves these pods alone: the test is the kubelet of the services.
  const service = { podAnnotations: { 'test.paddock/start': 'never' } };
  return {
    ...LEAST,
    config: {
      github: { apiUrl, apps: [{ ...APP, id: APP_ID }] },
      pools: [{ ...POOL, labels: ['self-hosted', 'linux'], image: 'runner:1', maxWorkers: 30 }],
      entities: { acme: {} },
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
    const poor = await createPoorLogin(empty.url);
    undo.push(poor.drop);
    await cluster.apply(secret('paddock-database', { migrate: poor.url }));

    const release = { release: 'paddock', namespace: NAMESPACE, set: valuesFor(github.url) };
    const rendered = renderChart(release);
    for (const object of inArgoOrder(rendered)) await cluster.apply(object);

    const network = `127.${randomInt(64, 250)}.${randomInt(0, 250)}`;
    const addressOf = (number: number): string => `${network}.${number}`;
    const [pod] = await podsOf(cluster, NAMESPACE, 'migrate', 1);
    const migrate = () => runContainer({ cluster, address: addressOf(1) }, pod as PlayedPod);
    const migrated = [await migrate()];
    // As its log says.
    const [, statements = ''] = /run "([^"]+)"/.exec(migrated[0]?.output ?? '') ?? [];
    await withConnection(empty.url, (client) => client.query(statements));
    migrated.push(await migrate());
    // Played nodes have the pod running; now it succeeds.
    await cluster.patch(pod as PlayedPod, {
      metadata: { annotations: { 'test.paddock/end': 'succeeded' } },
    });
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
      /** How the Job's program ended, before and after there were roles. */
      migrated,
      /** Changes the configuration, as an upgrade does. */
      async configure(changes: object) {
        const set = valuesFor(github.url);
        const next = { ...release, set: { ...set, config: { ...set.config, ...changes } } };
        const after = renderChart(next);
        for (const object of after.filter(({ kind }) => kind === 'ConfigMap'))
          await cluster.apply(object);
        return { restarts: !isDeepStrictEqual(deploymentsOf(after), deploymentsOf(rendered)) };
      },
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

const deploymentsOf = (objects: readonly ChartObject[]): readonly ChartObject[] =>
  objects.filter(({ kind }) => kind === 'Deployment');

/** A login that may make tables and no roles, as some providers give; none of our roles is there. */
async function createPoorLogin(serverUrl: string) {
  const name = uniqueDatabaseName('paddock_poor');
  const url = new URL(serverUrl);
  await withConnection(serverUrl, (client) =>
    client.query(`drop role if exists ${SERVICES.map((service) => `${SCHEMA}_${service}`).join()};
      create role ${name} login password 'of a test';
      grant create on database ${url.pathname.slice(1)} to ${name}`),
  );
  Object.assign(url, { username: name, password: 'of a test' });
  return {
    url: url.href,
    drop: () =>
      withConnection(serverUrl, (client) =>
        client.query(`drop owned by ${name} cascade; drop role ${name}`),
      ),
  };
}
