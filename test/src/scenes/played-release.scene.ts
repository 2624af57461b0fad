import { rulesVariable } from '@paddock/runtime/rules';
import {
  type GitHubSimulator,
  startGitHubSimulator,
} from '@paddock/simulators/github/start-github-simulator';
import { type TestDatabase, createEmptyDatabase, openMigrated } from '@paddock/testing/database';
import { type ChartObject, renderChart } from '@paddock/testing/render-chart';
import { renderNotes } from '@paddock/testing/render-notes';
import { sharedAppKey } from '@paddock/testing/shared-app-key';
import { waitFor } from '@paddock/testing/wait-for';
import { randomInt } from 'node:crypto';
import { type ChartCluster, podsOf, startChartCluster } from './chart-cluster.scene.ts';
import { inArgoOrder } from './chart-releases.scene.ts';
import {
  type Place,
  type PlayedContainer,
  type PlayedPod,
  runContainer,
  startContainer,
} from './play-container.scene.ts';

export const NAMESPACE = 'paddock';
export const RUNNERS = 'runners';
const SERVICES = ['ingress', 'scheduler', 'reconciler', 'console'] as const;
const APP_ID = 4711;
const SCHEMA = 'charted';
/** On a busy machine a delivery takes longer than GitHub's ten seconds. A refused one fails at once. */
const PATIENCE_MS = 120_000;
const WEBHOOK_SECRET = 'a secret of the chart for tests';

/** A release of the chart in a real cluster, with its database migrated by the chart's Job. */
export interface PlayedRelease {
  readonly cluster: ChartCluster;
  readonly github: GitHubSimulator;
  readonly database: TestDatabase;
  /** What helm has rendered. */
  readonly rendered: readonly ChartObject[];
  /** What the readiness of each service was answered before the migration; then all were ready. */
  readonly early: readonly { readonly isGood: boolean; readonly text: string }[];
  /** What helm tells the operator. */
  readonly notes: string;
  /** A loopback address that no other test uses. */
  addressOf(number: number): string;
  sendWebhooksTo(url: string): Promise<void>;
  stop(): Promise<void>;
}

const valuesFor = (apiUrl: string) => {
  // KWOK leaves these pods alone: the test is the kubelet of the services.
  const service = { podAnnotations: { 'test.paddock/start': 'never' } };
  return {
    config: {
      github: {
        apiUrl,
        apps: [
          {
            id: APP_ID,
            webhookSecret: { file: '/etc/paddock/webhook/webhook-secret' },
            privateKey: { file: '/etc/paddock/app/private-key.pem' },
          },
        ],
      },
      pools: [
        {
          name: 'linux',
          labels: ['self-hosted', 'linux'],
          image: 'runner:1',
          namespace: RUNNERS,
          maxWorkers: 30,
        },
      ],
      entities: { acme: {} },
    },
    credentials: {
      webhook: { existingSecret: 'paddock-webhook' },
      app: { existingSecret: 'paddock-app' },
    },
    database: {
      logins: Object.fromEntries(
        [...SERVICES, 'migrate'].map((name) => [name, { name: 'paddock-database', key: name }]),
      ),
    },
    settings: {
      PADDOCK_SCHEMA: SCHEMA,
      PADDOCK_CONSOLE_PATH_PREFIX: '/paddock',
    },
    // As long as a delivery may take on a busy machine: until then, the end counts for its job.
    env: [
      {
        name: 'PADDOCK_RULES',
        value: rulesVariable({ scheduler: { unexplainedGraceMs: 60_000 } }).PADDOCK_RULES,
      },
    ],
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

/** Installs the chart as `helm install` would, and runs its Job. */
export async function startPlayedRelease(assets: string): Promise<PlayedRelease> {
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
    undo.push(cluster.stop);

    for (const [name, labels] of [
      [NAMESPACE, { 'pod-security.kubernetes.io/enforce': 'restricted' }],
      [RUNNERS, {}],
    ] as const)
      await cluster.apply({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name, labels },
      });
    await cluster.apply(secret('paddock-webhook', { 'webhook-secret': WEBHOOK_SECRET }));
    await cluster.apply(secret('paddock-app', { 'private-key.pem': key.privateKeyPem }));
    // The migration makes the services' roles, so one login is for all until then.
    const logins = Object.fromEntries([...SERVICES, 'migrate'].map((name) => [name, empty.url]));
    await cluster.apply(secret('paddock-database', logins));

    const release = { release: 'paddock', namespace: NAMESPACE, set: valuesFor(github.url) };
    const rendered = renderChart(release);
    for (const object of inArgoOrder(rendered)) await cluster.apply(object);

    const network = `127.${randomInt(64, 250)}.${randomInt(0, 250)}`;
    const addressOf = (number: number): string => `${network}.${number}`;
    const [pod] = await podsOf(cluster, NAMESPACE, 'migrate', 1);
    const containers = await startEarly(cluster, addressOf);
    undo.push(() => Promise.all(containers.map((container) => container.end())));
    const early = await Promise.all(containers.map((container) => container.readiness()));
    await migrate(cluster, pod as PlayedPod, addressOf(1));
    await Promise.all(containers.map((container) => container.untilReady()));
    await undo.pop()?.();
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
      rendered,
      early,
      notes: renderNotes(release),
      addressOf,
      sendWebhooksTo: (url) => github.setApp(APP_ID, { webhookUrl: `${url}/webhooks/github` }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts a pod of each service, as the Deployments do beside the migration's Job. */
const startEarly = (
  cluster: ChartCluster,
  addressOf: PlayedRelease['addressOf'],
): Promise<PlayedContainer[]> =>
  Promise.all(
    SERVICES.map(async (service, nth) => {
      const [pod] = await podsOf(cluster, NAMESPACE, service, 2);
      return startContainer({ cluster, address: addressOf(10 + nth) }, pod as PlayedPod);
    }),
  );

async function migrate(cluster: ChartCluster, pod: PlayedPod, address: string): Promise<void> {
  const { code, output } = await runContainer({ cluster, address }, pod);
  if (code !== 0) throw new Error(`The migration ended with exit code ${code}:\n${output}`);
  // Played nodes have the pod running; now it succeeds.
  await cluster.patch(pod, { metadata: { annotations: { 'test.paddock/end': 'succeeded' } } });
}

interface Defect {
  readonly what: string;
  readonly service: 'ingress' | 'scheduler' | 'reconciler';
  /** Text of the pod, as JSON, and what a wrong chart would have in its place. */
  readonly find: string;
  readonly replace: string;
  /** What tells of it: the error of the start, or a line of the log. */
  readonly reason: RegExp;
}

export const DEFECTS: readonly Defect[] = [
  {
    what: 'a variable has another name',
    service: 'scheduler',
    find: '"name":"PADDOCK_CONFIG"',
    replace: '"name":"PADDOCK_CONFIGURATION"',
    reason: /PADDOCK_CONFIG\b/,
  },
  {
    what: 'the DSN has another key',
    service: 'ingress',
    find: '"key":"ingress"',
    replace: '"key":"ingres"',
    reason: /couldn't find key ingres in Secret paddock-database/,
  },
  {
    what: 'the port of health has another number',
    service: 'ingress',
    find: '"containerPort":8083',
    replace: '"containerPort":8084',
    reason: /does not listen at its port health, 8084/,
  },
  {
    what: 'the probe has another path',
    service: 'reconciler',
    find: '"path":"/readyz"',
    replace: '"path":"/ready"',
    reason: /the readinessProbe of reconciler is answered 404/,
  },
  {
    what: 'the configuration is mounted elsewhere',
    service: 'reconciler',
    find: '"mountPath":"/etc/paddock/config"',
    replace: '"mountPath":"/etc/paddock/configuration"',
    reason: /ENOENT.*\/etc\/paddock\/config\/paddock.yaml/s,
  },
  {
    what: 'the private key is mounted elsewhere',
    service: 'scheduler',
    find: '"mountPath":"/etc/paddock/app"',
    replace: '"mountPath":"/etc/paddock/apps"',
    reason: /\/etc\/paddock\/app\/private-key.pem/,
  },
];

const altered = (pod: PlayedPod, find: string, replace: string): PlayedPod => {
  const text = JSON.stringify(pod);
  if (!text.includes(find)) throw new Error(`${pod.metadata.name} has no ${find}`);
  return JSON.parse(text.replace(find, () => replace)) as PlayedPod;
};

/** Starts a pod with a defect; resolves with the reason why it does not get ready. */
export async function whyNotReady(
  place: Place,
  pod: PlayedPod,
  { find, replace }: Defect,
): Promise<string> {
  try {
    const container = await startContainer(place, altered(pod, find, replace));
    try {
      await container.untilReady();
      return 'no failure';
    } finally {
      await container.end();
    }
  } catch (error) {
    return String(error);
  }
}

/** Starts a pod whose readiness asks nothing of the cluster; resolves with its complaint. */
export async function complaintOf(place: Place, pod: PlayedPod): Promise<string> {
  const container = await startContainer(place, pod);
  try {
    return await waitFor('a complaint about the cluster', () =>
      container.program.lines().find((line) => line.includes('watch of pods was interrupted')),
    );
  } finally {
    await container.end();
  }
}

/** The scheduler's pod without a token. */
export const withoutToken = (pod: PlayedPod): PlayedPod =>
  altered(pod, '/var/run/secrets/kubernetes.io/serviceaccount', '/nowhere');

/** The scheduler's pod under an account like its own, whose Role has `get` in place of a verb. */
export async function withoutVerb(
  cluster: ChartCluster,
  pod: PlayedPod,
  rendered: readonly ChartObject[],
  verb: string,
): Promise<PlayedPod> {
  const { serviceAccountName } = pod.spec;
  const own = rendered.filter(({ kind, metadata: { name } }) =>
    kind === 'ServiceAccount'
      ? name === serviceAccountName
      : (kind === 'Role' || kind === 'RoleBinding') && name.endsWith('-scheduler'),
  );
  for (const object of own) {
    const text = JSON.stringify(object)
      .replaceAll('-scheduler"', '-lame"')
      .replaceAll(`"${verb}"`, '"get"');
    await cluster.apply(JSON.parse(text) as ChartObject);
  }
  return altered(
    pod,
    `"serviceAccountName":"${serviceAccountName}"`,
    `"serviceAccountName":"${serviceAccountName.replace('-scheduler', '-lame')}"`,
  );
}
