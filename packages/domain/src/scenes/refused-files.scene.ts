import { poolWith } from './pools-document.scene.ts';

type Row = readonly [given: object, problem: string];

const limits = (amounts: object) => ({ resources: { limits: amounts } });
const tolerating = (toleration: object) => ({ tolerations: [toleration] });
const withSpec = (spec: object): object => ({ template: { spec } });
const withMetadata = (metadata: object): object => ({ template: { metadata } });
const inContainer = (fields: object): object =>
  withSpec({ containers: [{ name: 'runner', ...fields }] });
const keeping = (...scopes: string[]) => ({
  warm: scopes.map((scope) => ({ scope, workers: 1 })),
});

const OFFICE = { from: '08:00', to: '18:00', timezone: 'Europe/Berlin', workers: 3 };

const NO_STRING = 'Invalid input: expected string';
const MODE = 'containerMode';
const CONTAINERS = 'template.spec.containers';
const NO_MODE =
  'is written out here: leave containerMode out, and put the hooks into the template, as docs/kubernetes-mode.md shows';
const atRepositories = { registration: 'repository' };
/** The node affinity of one requirement. */
const requires = (requirement: object) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [requirement] }],
      },
    },
  },
});
const onWindows = { nodeSelector: { 'kubernetes.io/os': 'windows' } };
const ofRepositories = { repositories: ['acme/*'] };
const inLogs = [{ name: 'setup', terminationMessagePolicy: 'FallbackToLogsOnError' }];
const intoStatus = 'terminationMessagePolicy: puts the end of a log into the status of the pod';

/** The differences from a right pool that are wrong, and the start of the problem in the pool. */
const REFUSED_POOLS: readonly Row[] = [
  [{ name: '9a' }, 'name: must be 1 to 30 characters'],
  [{ namespace: 'r-' }, 'namespace: must be a Kubernetes namespace'],
  [{ labels: [] }, 'labels: needs at least one label'],
  [
    { labels: Array.from({ length: 101 }, (_, nth) => `l${nth}`) },
    'labels: may have at most 100 labels',
  ],
  [
    { labels: Array.from({ length: 10 }, (_, nth) => `${nth}${'é'.repeat(100)}`) },
    'labels: may have 2000 bytes of labels',
  ],
  [limits({ cpu: true }), 'resources.limits.cpu: must be an amount'],
  [{ resources: { claims: [{ name: 'a' }] } }, "resources.claims: is the template's"],
  [{ nodeSelector: { gpu: true } }, `nodeSelector.gpu: ${NO_STRING}`],
  [tolerating({ key: true }), `tolerations.0.key: ${NO_STRING}`],
  [tolerating({ operator: 'exists' }), 'tolerations.0.operator: must be Exists or Equal'],
  [
    tolerating({ effect: 'noSchedule' }),
    'tolerations.0.effect: must be NoSchedule, PreferNoSchedule or NoExecute',
  ],
  [{ terminationGracePeriodSeconds: -1 }, 'terminationGracePeriodSeconds: '],
  [{ containerMode: 'kubernetes' }, `${MODE}: kubernetes ${NO_MODE}`],
  [{ containerMode: { type: 'kubernetes-novolume' } }, `${MODE}: kubernetes-novolume ${NO_MODE}`],
  [
    { containerMode: { type: 'dind' } },
    `${MODE}: must be none or dind, or be left out: written without \`type\``,
  ],
  [{ containerMode: 'docker' }, `${MODE}: must be none or dind, or be left out`],
  [{ containerMode: null }, `${MODE}: must be none or dind, or be left out`],
  [{ proxy: {} }, 'proxy: needs http, https or both'],
  ...['proxy:3128', 'httpx://proxy:3128', 'xhttp://proxy:3128'].map((http): Row => [
    { proxy: { http } },
    'proxy.http: must be an address such as http://proxy',
  ]),
  [{ proxy: { http: 'http://proxy:3128', noProxy: [''] } }, 'proxy.noProxy.0: '],
  [
    { proxy: { https: { url: 'http://proxy:3128' } } },
    'proxy.https: must be an address such as http://proxy.example.com:3128, written without `url`',
  ],
  [
    { proxy: { http: 'http://me:word@proxy:3128' } },
    'proxy.http: must hold no user and password: set HTTPS_PROXY in the template, from a Secret, instead',
  ],
  [{ proxy: { https: 'http://:word@proxy' } }, 'proxy.https: must hold no user and password'],
  ...['ca.pem', 'a/b.crt', 'a.crt.old'].map((key): Row => [
    { caBundle: { configMap: 'ca', key } },
    'caBundle.key: must be a key that ends in .crt',
  ]),
  [{ warm: [{ scope: 'acme', workers: 0 }] }, 'warm.0.workers: '],
  [{ warm: [{ scope: 'acme' }] }, 'warm.0.workers: is missing, and there are no times'],
  [{ warm: [{ scope: 'acme', times: [] }] }, 'warm.0.times: '],
  ...[
    { from: '8:00' },
    { to: '24:00' },
    { days: ['monday'] },
    { days: [] },
    { timezone: '+02:00' },
    { timezone: 'Mars/Olympus' },
    { workers: -1 },
  ].map((wrong): Row => [
    { warm: [{ scope: 'acme', times: [{ ...OFFICE, ...wrong }] }] },
    `warm.0.times.0.${Object.keys(wrong).join()}`,
  ]),
  [keeping('Acme', 'acme'), 'warm: names the same scope twice'],
  [keeping('a/b/c'), 'warm.0.scope: must be an organization, or a repository'],
  [{ ...keeping('acme'), ...atRepositories }, 'warm.0.scope: must be acme/REPOSITORY'],
  ...[
    { entities: ['a*me', 'beta'], ...keeping('acme/x', 'other') },
    { ...ofRepositories, ...atRepositories, ...keeping('acme/a.b', 'other/x') },
    { repositories: ['acme/a.*'], ...atRepositories, ...keeping('acme/a.b', 'acme/axb') },
  ].map((pool): Row => [pool, 'warm.1.scope: is not served by this pool']),
  [{ entities: [] }, 'entities: serves no entity'],
  [{ entities: ['acme/api'] }, 'entities.0: must be a login, in which * means any characters'],
  [{ repositories: [] }, 'repositories: serves nothing'],
  [{ repositories: ['acme'] }, 'repositories.0: must be owner/name'],
  [ofRepositories, 'repositories: GitHub gives any job of an organisation any runner of its def'],
  [
    { ...ofRepositories, runnerGroup: 'team', runnerGroupVisibility: 'all' },
    'runnerGroupVisibility: must be selected, or left out',
  ],
  [{ unlabelled: true }, 'unlabelled: needs entities or repositories'],
  [{ maxWorkersPerRepository: 2 }, 'maxWorkersPerRepository: a cap per repository needs'],
  [{ runnerGroupVisibility: 'public' }, 'runnerGroupVisibility: '],
  [
    { runnerGroupVisibility: 'private', publicRepositories: true },
    'runnerGroupVisibility: private keeps public repositories out, which publicRepositories lets in',
  ],
  [{ ...onWindows, containerMode: 'dind', runnerGroup: 'a' }, `${MODE}: dind is a daemon for Li`],
  ...[
    { os: { name: 'windows' } },
    onWindows,
    { nodeSelector: { 'beta.kubernetes.io/os': 'Windows' } },
    requires({ key: 'kubernetes.io/os', operator: 'In', values: ['windows'] }),
    requires({ key: 'beta.kubernetes.io/os', operator: 'NotIn', values: ['linux'] }),
    requires({ key: 'node.kubernetes.io/windows-build', operator: 'Exists' }),
  ].map((spec): [object, string] => [
    withAuthority(spec),
    'caBundle: is mounted where Linux reads',
  ]),
  [withSpec({ containers: [{ image: 'x' }] }), `${CONTAINERS}.0.name: `],
  [withSpec({ containers: { runner: {} } }), `${CONTAINERS}: Invalid input: expected array`],
  [inContainer({ env: [{ value: 'b' }] }), `${CONTAINERS}.0.env.0.name: `],
  [inContainer({ volumeMounts: [{ name: 'w' }] }), `${CONTAINERS}.0.volumeMounts.0.mountPath: `],
  [inContainer({ volumeMounts: [{ mountPath: '/w' }] }), `${CONTAINERS}.0.volumeMounts.0.name: `],
  [withMetadata({ labels: { a: true } }), `template.metadata.labels.a: ${NO_STRING}`],
  [withMetadata({ creationTimestamp: '2026-11-22' }), 'template.metadata'],
  [
    { ...withSpec({ initContainers: inLogs }), keepLogs: false },
    `template.spec.initContainers.0.${intoStatus}`,
  ],
  [{ ...withSpec({ containers: inLogs }), keepLogs: false }, `${CONTAINERS}.0.${intoStatus}`],
  ...['cpu', 'memory', 'requests', 'limits'].map((key): Row => [
    { [key]: 1 },
    `${key}: must stand in resources`,
  ]),
  ...['cpu', 'memory', 'ephemeral-storage', 'nvidia.com/gpu'].map((key): Row => [
    { resources: { [key]: 1 } },
    `resources.${key}: must stand in requests, limits or both`,
  ]),
  ...['affinity', 'imagePullSecrets', 'topologySpreadConstraints'].map((key): Row => [
    { [key]: 1 },
    `${key}: is the template's: write it as template.spec.${key}`,
  ]),
  ...['nodeSelector', 'tolerations', 'volumes'].map((key): Row => [
    { template: { [key]: 1 } },
    `template.${key}: must stand in spec: write it as template.spec.${key}`,
  ]),
  [
    { env: [] },
    "env: is the template's: write it in template.spec.containers, in the container named runner",
  ],
  [{ maxRunners: 5 }, 'maxRunners: is called maxWorkers here, a key of a pool'],
];

const ofAll = { entities: { '*': {} } };
const twin = { name: 'b', labels: ['X'] };
const inRunner = (securityContext: object) => inContainer({ securityContext });
const owned = { runnerGroup: 'docker' };
/** A pool whose jobs have this power, and serve these. */
const serving = (pool: object, named: string, whom: string, more = {}): Row => [
  { pools: [pool], ...more },
  `pools.0.allowUntrusted: its jobs have power over their node (${named}), and it serves ${whom}`,
];
const DIND = 'containerMode: dind';
const DEFAULT = 'all that may use the runner group Default';
const power = { containerMode: 'dind' };

/**
 * The differences from a right file that are wrong, and the start of the problem. Each rule has a
 * row. The chart refuses them, too.
 */
export const REFUSED_FILES: readonly Row[] = [
  ...REFUSED_POOLS.map(([pool, problem]): Row => [{ pools: [pool] }, `pools.0.${problem}`]),
  [{ image: 'runner:1' }, 'image: is a key of a pool: write it in an item of pools'],
  [{ pools: [{}, { labels: ['y'] }] }, 'pools.1.name: there is another pool named a'],
  ...[
    [{}, twin],
    [{ entities: ['ACME', 'beta'] }, { ...twin, entities: ['Beta', 'acme'] }],
  ].map((pools): Row => [{ pools }, 'pools.1.labels: pool a has the same labels']),
  [{ entities: { 'id:x': {} } }, 'entities.id:x: must be id: and the entity'],
  [{ entities: { acme: { weight: 0 } } }, 'entities.acme.weight: must be at least 0.01'],
  ...['commonMaxWorkers', 'commonWeight'].map((key): Row => [
    { entities: { acme: { [key]: 2 } } },
    `entities.acme.${key}: belongs under '*'`,
  ]),
  [{ entities: { acme: {}, ACME: {} } }, 'entities: the same login is listed twice'],
  [{ github: { apps: [] } }, 'github.apps: needs at least one GitHub App'],
  [{ github: { apps: [{ id: 1 }, { id: 1 }] } }, 'github.apps: the same App is listed twice'],
  [
    { github: { apps: [{ id: 1, privateKey: 'hush' }] } },
    'github.apps.0.privateKey: must be { env: NAME } or { file: PATH }',
  ],
  [{ github: { apiUrl: 'github.test' } }, 'github.apiUrl: must be an address such as'],
  ...[
    'http://github.example.com/api/v3',
    'http://10.0.0.7',
    'http://mylocalhost',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'HTTP://127.0.0.1@example.com',
    'ftp://127.0.0.1',
  ].map((apiUrl): Row => [{ github: { apiUrl } }, 'github.apiUrl: must begin with https://']),
  ...[{}, { entities: ['acme-*'] }, { repositories: ['*/x'], registration: 'repository' }].map(
    (pool) => serving({ ...power, ...owned, ...pool }, DIND, 'everyone who installs the', ofAll),
  ),
  serving({ ...power, ...owned, publicRepositories: true }, DIND, 'public repositories'),
  serving(power, DIND, DEFAULT),
  ...(
    [
      [withSpec({ hostNetwork: true }), 'hostNetwork of its template'],
      [withSpec({ hostPID: true }), 'hostPID of its template'],
      [withSpec({ hostIPC: true }), 'hostIPC of its template'],
      [
        withSpec({ volumes: [{ name: 'run', hostPath: { path: '/run' } }] }),
        'hostPath in the volume run',
      ],
      [
        withSpec({ securityContext: { windowsOptions: { hostProcess: true } } }),
        'hostProcess of its template',
      ],
      [inRunner({ privileged: true }), 'privileged in the container runner'],
      [
        withSpec({ initContainers: [{ name: 'setup', securityContext: { privileged: true } }] }),
        'privileged in the container setup',
      ],
      [
        inRunner({ capabilities: { add: ['CAP_CHOWN', 'NET_CAP_RAW'] } }),
        'the capabilities NET_CAP_RAW in the container runner',
      ],
      [inRunner({ windowsOptions: { hostProcess: true } }), 'hostProcess in the container runner'],
    ] as const
  ).map(([pool, named]) => serving(pool, named, DEFAULT)),
];

/** A pod that the certificates of an authority are mounted into. */
function withAuthority(spec: object): object {
  return { ...withSpec(spec), caBundle: { configMap: 'ca' } };
}

/** Differences from a right pool that neither the file nor the chart refuses. */
export const TAKEN_POOLS: readonly object[] = [
  {
    resources: {
      requests: { cpu: 4, memory: '16Gi', 'ephemeral-storage': '50Gi' },
      limits: { cpu: '0.5', 'nvidia.com/gpu': 1 },
    },
  },
  { resources: {}, nodeSelector: {}, tolerations: [], terminationGracePeriodSeconds: 0 },
  { nodeSelector: { 'kubernetes.io/arch': 'arm64', disk: '' }, priorityClassName: 'high' },
  { nodeSelector: { 'kubernetes.io/os': 'windows' }, proxy: { http: 'http://proxy:3128' } },
  tolerating({ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }),
  tolerating({ key: 'spot', operator: 'Equal', value: 'true', effect: 'PreferNoSchedule' }),
  { proxy: { https: 'http://proxy:3128', noProxy: ['internal'] } },
  { caBundle: { configMap: 'ca' } },
  { caBundle: { configMap: 'ca', key: 'a.crt' } },
  { warm: [{ scope: 'acme', workers: 1 }] },
  { template: { metadata: null, spec: null } },
  { warm: [{ scope: 'acme', times: [OFFICE, { ...OFFICE, days: ['sat'], workers: 0 }] }] },
  ...[
    requires({ key: 'kubernetes.io/os', operator: 'In', values: ['windows', 'linux'] }),
    requires({ key: 'kubernetes.io/arch', operator: 'NotIn', values: ['linux'] }),
    { affinity: { nodeAffinity: null } },
  ].map(withAuthority),
  withSpec({
    nodeSelector: null,
    os: null,
    affinity: null,
    securityContext: null,
    anything: { new: [1] },
  }),
  inContainer({
    env: [{ name: 'A', value: 'b' }],
    volumeMounts: [{ name: 'w', mountPath: '/w' }],
  }),
  { ...power, allowUntrusted: true },
  { ...power, ...owned },
  { ...power, registration: 'repository' },
  inContainer({ securityContext: { capabilities: { add: ['CAP_CHOWN', 'kill'] } } }),
  withSpec({ hostNetwork: false, volumes: [{ name: 'work', hostPath: null }] }),
  { entities: ['a*me'], ...keeping('ACME', 'acme/x') },
  { entities: ['id:7'], ...keeping('acme') },
  keeping('acme', 'sam/one'),
  { ...keeping('acme/api'), ...atRepositories, maxWorkersPerRepository: 2 },
  { ...ofRepositories, ...owned, ...keeping('beta') },
  { ...ofRepositories, ...owned, runnerGroupVisibility: 'selected', unlabelled: true },
  { labels: Array.from({ length: 10 }, (_, nth) => `${nth}${'x'.repeat(195)}`) },
];

/** A right file with these differences. */
export const fileWith = ({ github = {}, pools = [], ...more }: Given): object => ({
  github: { apps: [{ id: 1 }], ...github },
  pools: pools.map(poolWith),
  entities: { acme: {} },
  ...more,
});

interface Given {
  readonly github?: object;
  readonly pools?: readonly object[];
}
