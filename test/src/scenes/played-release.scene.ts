import { rulesVariable } from '@paddock/runtime/rules';
import { startGitHubSimulator } from '@paddock/simulators/github/start-github-simulator';
import { createEmptyDatabase, openMigrated } from '@paddock/testing/database';
import { uniqueDatabaseName, withConnection } from '@paddock/testing/server-connection';
import { CHART, type ChartObject, HELM, renderChart } from '@paddock/testing/render-chart';
import { sharedAppKey } from '@paddock/testing/stand-ins';
import { waitFor } from '@paddock/testing/wait-for';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { startChartCluster } from './chart-cluster.scene.ts';
import { APP, LEAST, POOL, RESTRICTED } from './chart-releases.scene.ts';
import { type PlayedPod, runContainer } from './kubelet.scene.ts';

export const NAMESPACE = 'paddock';
export const RUNNERS = POOL.namespace;
const SERVICES = ['ingress', 'scheduler', 'reconciler', 'console'] as const;
export const APP_ID = 4711;
/** An App that the release does not know at first, of the organisation `beta`. */
export const OTHER_APP_ID = 4712;
/** On a busy machine a delivery takes longer than GitHub's ten seconds. A refused one fails at once. */
const PATIENCE_MS = 120_000;
export const WEBHOOK_SECRET = 'a secret of the chart for tests';

export type PlayedRelease = Awaited<ReturnType<typeof startPlayedRelease>>;

const valuesFor = (apiUrl: string, schema: string, replicas: number) => {
  // KWOK leaves these pods alone: the test is the kubelet of the services.
  const service = { podAnnotations: { 'test.paddock/start': 'never' } };
  return {
    ...LEAST,
    config: {
      github: { apiUrl, apps: [{ ...APP, id: APP_ID }] },
      pools: [{ ...POOL, labels: ['self-hosted', 'linux'], image: 'runner:1', maxWorkers: 30 }],
      entities: { acme: {} },
    },
    settings: { PADDOCK_SCHEMA: schema, PADDOCK_CONSOLE_PATH_PREFIX: '/paddock' },
    // As long as a delivery may take on a busy machine: until then, the end counts for its job.
    env: Object.entries(rulesVariable({ scheduler: { unexplainedGraceMs: 60_000 } })).map(
      ([name, value]) => ({ name, value }),
    ),
    // Only root may listen at the default, 80.
    webhook: { service: { port: 8000 } },
    ingress: service,
    scheduler: { ...service, replicas },
    reconciler: { ...service, replicas },
    console: { ...service, replicas },
  };
};

export const secret = (name: string, stringData: object): ChartObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: NAMESPACE },
  stringData,
});

/**
 * Installs the chart in a real cluster by helm, and runs its Job. No other release on the same
 * PostgreSQL may have this schema, because its roles are the server's. Ingress has two replicas.
 */
export async function startPlayedRelease(assets: string, schema: string, replicas = 2) {
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    const { privateKeyPem, publicKeyPem } = sharedAppKey();
    const apps = [APP_ID, OTHER_APP_ID].map((appId) => ({
      appId,
      publicKeyPem,
      webhookSecret: WEBHOOK_SECRET,
    }));
    const github = await startGitHubSimulator({ apps, deliveryTimeoutMs: PATIENCE_MS });
    undo.push(github.stop);
    for (const [appId, login] of [
      [APP_ID, 'acme'],
      [OTHER_APP_ID, 'beta'],
    ] as const) {
      await github.addOrganization({ login });
      await github.addRepository({ owner: login, name: 'shop', private: true });
      await github.install({ appId, account: login, announce: false });
    }
    const empty = await createEmptyDatabase();
    undo.push(() => empty.drop());
    const cluster = await startChartCluster(assets);
    undo.push(cluster.real.stop);

    await cluster.makeNamespace(NAMESPACE, RESTRICTED);
    await cluster.makeNamespace(RUNNERS);
    const data = { 'webhook-secret': WEBHOOK_SECRET, 'private-key.pem': privateKeyPem };
    await cluster.apply(secret('paddock-github', data));
    const login = await createPoorLogin(empty.url, schema);
    undo.push(login.drop);
    await cluster.apply(secret('paddock-database', { migrate: login.url }));

    const values = valuesFor(github.url, schema, replicas);
    const release = { release: 'paddock', namespace: NAMESPACE, set: values };
    /** Runs a command of helm while all goes on, with these values above those of the release. */
    const helm = async (
      command: string,
      args: readonly string[],
      set?: object,
    ): Promise<string> => {
      const more = set === undefined ? [] : ['--values', '-'];
      const to = ['-n', NAMESPACE, '--kubeconfig', cluster.real.kubeconfigFile];
      const running = spawn(String(HELM), [command, 'paddock', ...args, ...to, ...more]);
      running.stdin.end(JSON.stringify({ ...values, ...set }));
      const [out, errors] = [text(running.stdout), text(running.stderr)];
      const [code] = (await once(running, 'exit')) as [number | null];
      if (code !== 0) throw new Error(await errors);
      return out;
    };
    const notes = await helm('install', [CHART], {});

    const network = `127.${randomInt(64, 250)}.${randomInt(0, 250)}`;
    const addressOf = (number: number): string => `${network}.${number}`;
    /** The pod of a migration that has not ended. */
    const migration = () =>
      waitFor('the pod of a migration', async () => {
        const pods = await cluster.list('Pod', NAMESPACE, 'app.kubernetes.io/component=migrate');
        return (pods as unknown as PlayedPod[]).find(
          ({ metadata: { deletionTimestamp, annotations = {} } }) =>
            deletionTimestamp === undefined && !('test.paddock/end' in annotations),
        );
      });
    const run = (pod: PlayedPod) => runContainer({ cluster, address: addressOf(1) }, pod);
    /** Runs the migration of an installation or an upgrade. */
    const migrate = async () => {
      const pod = await migration();
      const ended = await run(pod);
      // Played nodes have the pod running; now it succeeds.
      await cluster.patch(pod, { metadata: { annotations: { 'test.paddock/end': 'succeeded' } } });
      return ended;
    };
    const poor = await run(await migration());
    // As its log says.
    const [, statements = ''] = /run "([^"]+)"/.exec(poor.output) ?? [];
    await withConnection(empty.url, (client) => client.query(statements));
    const migrated = [poor, await migrate()];
    const database = await openMigrated({ url: empty.url, schema });
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
      values,
      helm,
      migrate,
      /** What helm has rendered. */
      rendered: renderChart(release),
      /** How the Job's program ended, before and after there were roles. */
      migrated,
      /** What helm tells the operator. */
      notes,
      /** A loopback address that no other test uses. */
      addressOf,
      sendWebhooksTo: (url: string, appId = APP_ID) =>
        github.setApp(appId, { webhookUrl: `${url}/webhooks/github` }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A login that may make tables and no roles, as some providers give; none of our roles is there. */
async function createPoorLogin(serverUrl: string, schema: string) {
  const name = uniqueDatabaseName('paddock_poor');
  const url = new URL(serverUrl);
  await withConnection(serverUrl, (client) =>
    client.query(`drop role if exists ${SERVICES.map((service) => `${schema}_${service}`).join()};
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
