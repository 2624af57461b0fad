import { CHART, type ChartObject, type Release, renderChart } from '@paddock/testing/render-chart';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeChartSchema } from '../../../tools/helm/chart-schema.ts';

// Git has no schema of the values; without it, Helm would refuse no unknown key.
writeChartSchema();

/** The folder of the chart, its examples and what they render. */
export const DEPLOYED = join(CHART, '..');

/** Where a release has its images. */
const image = { registry: 'registry.test/paddock' };

/** Values with which every example renders the same each time. */
const DRAWN = { image, evaluation: { password: 'drawnAtTheFirstInstallation' } };

/** A release of each example, by the example's name. */
export const EXAMPLES: readonly (readonly [name: string, release: Release])[] = globSync(
  'examples/*.yaml',
  { cwd: DEPLOYED },
)
  .toSorted()
  .map((file) => [
    basename(file, '.yaml'),
    { release: 'paddock', namespace: 'paddock', values: [join(DEPLOYED, file)], set: DRAWN },
  ]);

export const APP = {
  id: 7,
  webhookSecret: { file: '/etc/paddock/webhook/webhook-secret' },
  privateKey: { file: '/etc/paddock/app/private-key.pem' },
};

export const POOL = { name: 'linux', labels: ['linux'], namespace: 'runners', maxWorkers: 9 };

/** Of a namespace: pods in it are held to the strictest of the standards. */
export const RESTRICTED = { 'pod-security.kubernetes.io/enforce': 'restricted' };

/** Plays restricted-v2, under which only the namespace's own users and groups are allowed. */
export const ONLY_THE_NAMESPACES_IDS = {
  validatingadmissionpolicies: {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'restricted-v2' },
    spec: {
      matchConstraints: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'openshift' } },
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
        ],
      },
      validations: [
        {
          expression: `!has(object.spec.securityContext.runAsUser) &&
            !has(object.spec.securityContext.fsGroup) &&
            object.spec.containers.all(one, !has(one.securityContext.runAsUser) &&
              !has(one.securityContext.runAsGroup))`,
          message: 'the namespace gives users and groups',
        },
      ],
    },
  },
  validatingadmissionpolicybindings: {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'restricted-v2' },
    spec: { policyName: 'restricted-v2', validationActions: ['Deny'] },
  },
};

/** The fewest values that the chart takes. */
export const LEAST = {
  config: { github: { apps: [APP] }, pools: [POOL], entities: { acme: {} } },
  credentials: {
    webhook: { existingSecret: 'paddock-github' },
    app: { existingSecret: 'paddock-github' },
  },
  database: { existingSecret: { name: 'paddock-database' } },
  image,
};

const release = (values: object, names: Partial<Release> = {}): Release => ({
  release: 'paddock',
  namespace: 'paddock',
  ...names,
  set: { ...LEAST, ...values },
});

/** People sign in at an identity provider. */
export const SIGN_IN = {
  groups: { read: ['*'] },
  oidc: {
    url: 'https://paddock.example',
    issuer: 'https://id.example',
    clientId: 'paddock',
    clientSecret: { file: '/etc/paddock/signIn/secret' },
  },
};

export const HOOKED = {
  spec: {
    containers: [
      { name: 'runner', env: [{ name: 'ACTIONS_RUNNER_CONTAINER_HOOKS', value: '/k8s/index.js' }] },
    ],
  },
};

const off = { enabled: false };
const service = { disruptionBudget: off };
const placed = {
  podAnnotations: { 'example.com/team': 'ci' },
  podLabels: { team: 'ci' },
  serviceAccount: { annotations: { 'example.com/role': 'paddock' } },
  priorityClassName: 'system-cluster-critical',
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'ci', operator: 'Exists' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'ci', operator: 'Exists' }] }],
      },
    },
  },
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { team: 'ci' } },
    },
  ],
};

/** Releases with other values than the examples. */
export const MATRIX: readonly (readonly [name: string, release: Release])[] = [
  ['the fewest values', release({})],
  // YAML has `n` and `y` for false and true.
  ['the shortest names', release({ fullnameOverride: 'y' }, { release: 'y', namespace: 'n' })],
  [
    'the longest names',
    release(
      {
        database: {},
        evaluation: { enabled: true, password: 'x' },
        ingress: { autoscaling: { enabled: true } },
        config: {
          ...LEAST.config,
          pools: [{ ...POOL, namespace: `r${'u'.repeat(62)}` }],
        },
      },
      { release: `r${'e'.repeat(52)}`, namespace: `s${'p'.repeat(62)}` },
    ),
  ],
  [
    'several namespaces of runners, the largest numbers, autoscaling and other ports',
    release({
      ingress: { autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 12 } },
      config: {
        ...LEAST.config,
        github: { apps: [{ ...APP, id: Number.MAX_SAFE_INTEGER }] },
        pools: [
          { ...POOL, template: { metadata: { labels: { team: 'ci' } } } },
          { ...POOL, name: 'gpu', labels: ['gpu'], namespace: 'gpu', maxWorkers: 100_000 },
          { ...POOL, name: 'hooked', labels: ['hooked'], namespace: 'gpu', template: HOOKED },
          { ...POOL, name: 'more', labels: ['more'] },
        ],
      },
      settings: {
        PADDOCK_DRAIN_MS: 3_600_000,
        PADDOCK_MAX_HELD_BYTES: 17_179_869_184,
        PADDOCK_PUBLIC_PORT: 9080,
        PADDOCK_HEALTH_PORT: 9081,
        PADDOCK_INGRESS_POOL_SIZE: 20,
      },
    }),
  ],
  [
    'a gateway, a monitor and a hook',
    release({
      webhook: {
        service: {
          type: 'LoadBalancer',
          port: 8443,
          spec: { ipFamilyPolicy: 'PreferDualStack', loadBalancerSourceRanges: ['192.0.2.0/24'] },
        },
        gateway: { enabled: true, hostnames: ['a.test'], parentRefs: [{ name: 'public' }] },
      },
      console: {
        gateway: { enabled: true, hostnames: ['b.test'], parentRefs: [{ name: 'private' }] },
      },
      monitoring: {
        podMonitor: { enabled: true },
        rules: { enabled: true },
        dashboards: { enabled: true },
      },
      networkPolicy: { metricsFrom: [] },
      migration: { hook: true },
    }),
  ],
  [
    'each service with a place',
    release({ ingress: placed, scheduler: placed, reconciler: placed, console: placed }),
  ],
  [
    'all off that can be off',
    release({
      migration: off,
      networkPolicy: off,
      runners: { rbac: off, networkPolicy: off, disruptionBudget: off },
      ingress: service,
      scheduler: service,
      reconciler: service,
      console: off,
    }),
  ],
  [
    'a console at a path, which a load balancer reaches',
    release({
      console: {
        service: { type: 'LoadBalancer' },
        ingress: { enabled: true, host: 'ci.test', tlsSecret: 'ci-tls' },
      },
      networkPolicy: {
        consoleFrom: [{ ipBlock: { cidr: '10.0.0.0/16' } }],
        databasePort: 6432,
        egress: { enabled: true, rules: [{ ports: [{ port: 3128 }] }] },
      },
      settings: { PADDOCK_CONSOLE_PATH_PREFIX: '/paddock' },
    }),
  ],
  [
    'one Secret for two Apps and the console',
    release({
      config: {
        ...LEAST.config,
        github: {
          apps: [
            { ...APP, previousWebhookSecret: { file: '/etc/paddock/webhook/previous' } },
            { ...APP, id: 8, webhookSecret: { file: '/etc/paddock/webhook/second' } },
          ],
        },
      },
      credentials: { ...LEAST.credentials, signIn: { existingSecret: 'paddock-github' } },
      console: { signIn: SIGN_IN },
    }),
  ],
  [
    'secrets of the Apps in variables for all services',
    release({
      config: {
        ...LEAST.config,
        github: { apps: [{ ...APP, webhookSecret: { env: 'HUSH' }, privateKey: { env: 'KEY' } }] },
      },
      env: ['HUSH', 'KEY', 'HTTPS_PROXY'].map((name) => ({
        name,
        valueFrom: { secretKeyRef: { name: 'paddock-variables', key: name } },
      })),
    }),
  ],
];

/** The kinds of the chart in the order in which Argo CD applies them. All others come after. */
const KINDS = [
  'NetworkPolicy',
  'PodDisruptionBudget',
  'ServiceAccount',
  'Secret',
  'ConfigMap',
  'Role',
  'RoleBinding',
  'Service',
  'Deployment',
  'HorizontalPodAutoscaler',
  'StatefulSet',
  'Job',
  'Ingress',
];

const isHook = ({ metadata }: ChartObject): boolean =>
  metadata.annotations?.['helm.sh/hook'] !== undefined;

/**
 * What Argo CD applies, in its order: hooks that come before an installation, then by kind and name.
 * It never applies a hook of `helm test`. Within a sync it waits for hooks alone.
 */
export const inArgoOrder = (objects: readonly ChartObject[]): ChartObject[] =>
  objects
    .filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] !== 'test')
    .toSorted(
      (a, b) =>
        Number(isHook(b)) - Number(isHook(a)) ||
        rankOf(a) - rankOf(b) ||
        (a.metadata.name < b.metadata.name ? -1 : 1),
    );

const rankOf = ({ kind }: ChartObject): number =>
  KINDS.includes(kind) ? KINDS.indexOf(kind) : KINDS.length;

/**
 * Where an object of the cluster is not as it was rendered, as Argo CD compares them: fields that
 * the cluster adds are no difference.
 */
export function differences(rendered: unknown, live: unknown, place = ''): string[] {
  if (typeof rendered !== 'object' || rendered === null)
    return rendered === live || (rendered === null && live === undefined)
      ? []
      : [`${place}: ${JSON.stringify(rendered)}, and ${JSON.stringify(live)} in the cluster`];
  if (Array.isArray(rendered) && (live as unknown[] | undefined)?.length !== rendered.length)
    return [`${place}: ${rendered.length} items, and ${JSON.stringify(live)} in the cluster`];
  return Object.entries(rendered).flatMap(([key, value]) =>
    differences(value, (live as Record<string, unknown> | undefined)?.[key], `${place}/${key}`),
  );
}

/** The configuration file that the objects have. */
export function configOf(objects: readonly ChartObject[]): string {
  const data = objects.find(({ kind }) => kind === 'ConfigMap')?.['data'];
  return (data as Record<string, string>)['paddock.yaml'] ?? '';
}

/** What a release with the fewest values makes, with these of `monitoring`. */
export const renderMonitoring = (monitoring: object): ChartObject[] =>
  renderChart({ release: 'paddock', namespace: 'paddock', set: { ...LEAST, monitoring } });
