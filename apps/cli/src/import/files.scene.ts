/** A file that is imported, the words beside it, and what comes of it. */
export interface GoodFile {
  readonly what: string;
  readonly text: string;
  readonly name?: string;
  readonly words?: readonly string[];
  /** Files that are imported with it, by their path beside it. */
  readonly beside?: Readonly<Record<string, string>>;
  readonly config: object;
  /** Parts of the sentences beside the output. */
  readonly says?: readonly string[];
  readonly saysNot?: readonly string[];
}

/** As `kubectl get -o yaml` shows one, without what does not matter. */
export const SCALE_SET = `
apiVersion: actions.github.com/v1alpha1
kind: AutoscalingRunnerSet
metadata:
  name: linux-x64
  namespace: runners
  creationTimestamp: "2026-01-01T00:00:00Z"
  uid: 6d2b
  labels:
    app.kubernetes.io/instance: linux-x64
    app.kubernetes.io/managed-by: Helm
    helm.sh/chart: gha-rs-0.14.2
    team: build
  annotations:
    actions.github.com/cleanup-no-permission-service-account-name: linux-x64-gha-rs-no-permission
    actions.github.com/runner-scale-set-name: linux-x64
spec:
  githubConfigUrl: https://github.com/acme
  githubConfigSecret: arc-app
  minRunners: 2
  maxRunners: 50
  ephemeralRunnerMetadata: { labels: { cost: ci }, annotations: { note: hello } }
  template:
    metadata: { labels: { tier: fast } }
    spec:
      restartPolicy: Never
      serviceAccountName: linux-x64-gha-rs-no-permission
      containers:
        - { name: runner, image: 'registry.example.com/runner:1', command: [/home/runner/run.sh] }
status: { currentRunners: 2 }
`;

/** As much of actions-runner-controller as its objects need to be there. */
export const RUNNER_SETS = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: autoscalingrunnersets.actions.github.com }
spec:
  group: actions.github.com
  scope: Namespaced
  names: { kind: AutoscalingRunnerSet, plural: autoscalingrunnersets }
  versions: [{ name: v1alpha1, served: true, storage: true, schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } } }]
`;

const VALUES = `
githubConfigUrl: https://github.com/acme
githubConfigSecret: arc-app
maxRunners: 5
`;

/** Values that need a person's word about power over nodes. */
const DIND = `${VALUES}containerMode: { type: dind }\n`;

const set = (spec: string, metadata = 'name: one, namespace: runners'): string =>
  `apiVersion: actions.github.com/v1alpha1\nkind: AutoscalingRunnerSet\nmetadata: { ${metadata} }\nspec: { ${spec} }\n`;

export const GOOD_FILES: readonly GoodFile[] = [
  {
    what: 'an AutoscalingRunnerSet is a pool with its caps, warm workers, pod and labels',
    text: SCALE_SET,
    config: {
      github: { apps: [{ id: 1, privateKey: { file: '/etc/paddock/app/private-key.pem' } }] },
      pools: [
        {
          name: 'linux-x64',
          labels: ['linux-x64'],
          namespace: 'runners',
          maxWorkers: 50,
          warm: [{ scope: 'acme', workers: 2 }],
          template: {
            metadata: {
              labels: {
                'actions.github.com/scale-set-name': 'linux-x64',
                'actions.github.com/scale-set-namespace': 'runners',
                'actions.github.com/organization': 'acme',
                'app.kubernetes.io/component': 'runner',
                'actions-ephemeral-runner': 'True',
                'helm.sh/chart': 'gha-rs-0.14.2',
                team: 'build',
                cost: 'ci',
                tier: 'fast',
              },
              annotations: { note: 'hello' },
            },
            spec: { containers: [{ name: 'runner', image: 'registry.example.com/runner:1' }] },
          },
        },
      ],
      entities: { acme: { maxWorkers: 50 } },
    },
    says: [
      'linux-x64 is the pool linux-x64.',
      "kubectl get secret arc-app -n runners -o jsonpath='{.data.github_app_id}' | base64 -d",
      'kubectl create secret generic paddock-github -n paddock',
    ],
  },
  {
    what: 'a set of a repository registers there; its group is left out',
    text: set(
      'githubConfigUrl: "https://github.com/acme/shop/", runnerGroup: x, minRunners: 1, maxRunners: 3',
    ),
    config: {
      pools: [
        {
          registration: 'repository',
          repositories: ['acme/shop'],
          warm: [{ scope: 'acme/shop', workers: 1 }],
        },
      ],
    },
    says: ['runnerGroup: is left out'],
  },
  {
    what: 'a set of an enterprise serves all that install the App, under one cap',
    text: set('githubConfigUrl: https://github.com/enterprises/big, maxRunners: 30, minRunners: 1'),
    config: {
      pools: [{ maxWorkers: 30 }],
      entities: { '*': { maxWorkers: 30, commonMaxWorkers: 30 } },
    },
    says: ['minRunners: is left out'],
  },
  {
    what: 'sets of several organisations serve only their own',
    text: `${set('githubConfigUrl: https://github.com/acme')}---\n${set('githubConfigUrl: https://github.com/other, maxRunners: 7', 'name: two, namespace: runners')}`,
    config: {
      pools: [{ entities: ['acme'] }, { entities: ['other'] }],
      entities: { acme: { maxWorkers: null }, other: { maxWorkers: 7 } },
    },
  },
  {
    what: 'the name at GitHub is the label, and what a name may have the name',
    text: set(
      'githubConfigUrl: https://github.com/acme, runnerScaleSetName: 16_CORES_and_a_name_that_is_longer',
    ),
    config: {
      pools: [
        {
          name: 'cores-and-a-name-that-is-longe',
          labels: ['16_cores_and_a_name_that_is_longer'],
        },
      ],
    },
  },
  {
    what: 'labels of the scale set are left out',
    text: set('githubConfigUrl: https://github.com/acme, runnerScaleSetLabels: [linux, gpu]'),
    config: { pools: [{ labels: ['one'] }] },
    says: ['scaleSetLabels: linux, gpu are left out'],
  },
  {
    what: '--scale-set-labels takes them, and --prefix comes before the name',
    text: set('githubConfigUrl: https://github.com/acme, runnerScaleSetLabels: [gpu]'),
    words: ['--scale-set-labels', '--prefix', 'next-'],
    config: { pools: [{ name: 'next-one', labels: ['next-one', 'gpu'] }] },
  },
  {
    what: 'GitHub Enterprise Server has its own address',
    text: set('githubConfigUrl: https://git.example.com/acme'),
    config: { github: { apiUrl: 'https://git.example.com/api/v3' } },
  },
  {
    what: '--app-id is the App of all sets',
    text: SCALE_SET,
    words: ['--app-id', '4711'],
    config: { github: { apps: [{ id: 4711 }] } },
  },
  {
    what: 'proxies are the pool’s',
    text: set(
      'githubConfigUrl: https://github.com/acme, proxy: { http: { url: "http://p:1" }, https: { url: "http://p:2" }, noProxy: [a, b] }',
    ),
    config: {
      pools: [{ proxy: { http: 'http://p:1', https: 'http://p:2', noProxy: ['a', 'b'] } }],
    },
  },
  {
    what: 'a proxy with a password is put together from its Secret, in the pod',
    text: set(
      'githubConfigUrl: https://github.com/acme, proxy: { https: { url: "http://p:2", credentialSecretRef: auth } }, template: { spec: { containers: [{ name: runner, image: i, env: [{ name: A, value: a }] }] } }',
    ),
    config: {
      pools: [
        {
          template: {
            spec: {
              containers: [
                {
                  env: [
                    { name: 'A' },
                    { valueFrom: { secretKeyRef: { name: 'auth', key: 'username' } } },
                    { valueFrom: { secretKeyRef: { name: 'auth', key: 'password' } } },
                    {
                      name: 'https_proxy',
                      value: 'http://$(https_proxy_username):$(https_proxy_password)@p:2',
                    },
                    { name: 'HTTPS_PROXY' },
                  ],
                },
              ],
            },
          },
        },
      ],
    },
    says: ['proxy.credentialSecretRef:'],
  },
  {
    what: 'a vault is named with what to do',
    text: set(
      'githubConfigUrl: https://github.com/acme, vaultConfig: { type: azure_key_vault, azureKeyVault: { url: u } }',
    ),
    config: { pools: [{ name: 'one' }] },
    says: ['vaultConfig: Paddock reads no vault'],
  },
  {
    what: 'a set at 0 makes nothing, and says so',
    text: set('githubConfigUrl: https://github.com/acme, maxRunners: 0'),
    config: { pools: [{ maxWorkers: 0 }] },
    says: ['maxRunners: is 0'],
  },
  {
    what: 'JSON is YAML',
    text: JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [
        {
          apiVersion: 'actions.github.com/v1alpha1',
          kind: 'AutoscalingRunnerSet',
          metadata: { name: 'j', namespace: 'n' },
          spec: { githubConfigUrl: 'https://github.com/acme' },
        },
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: 'b' } },
      ],
    }),
    config: { pools: [{ name: 'j', namespace: 'n' }] },
    says: ['ConfigMap c: holds no runner set.'],
  },
];

export interface BadFile {
  readonly what: string;
  readonly text: string;
  readonly name?: string;
  readonly words?: readonly string[];
  readonly says: string;
}

export const BAD_FILES: readonly BadFile[] = [
  {
    what: 'a Deployment, which has a template too,',
    text: 'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: d }\nspec: { template: { spec: { containers: [{ name: runner }] } } }',
    says: 'arc.yaml: Deployment d: holds no runner set.',
  },
  {
    what: 'a large file of YAML',
    text: `# ${'x'.repeat(1_100_000)}`,
    says: 'has more than 1048576 characters: have kubectl write JSON',
  },
  {
    what: 'parameters beyond reason',
    text: `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: { name: a }\nspec: { source: { helm: { parameters: [{ name: '${'a.'.repeat(100_000)}', value: x }, { name: 'maxRunners[999999999]', value: 1 }, { name: __proto__.x, value: 1 }] } } }`,
    says: 'githubConfigUrl: is missing',
  },
  {
    what: 'values that Terraform encodes',
    name: 'main.tf',
    text: 'resource "helm_release" "arc" {\n  name = "x"\n  values = [yamlencode({ a = 1 })]\n}\n',
    says: 'main.tf: helm_release arc: has yamlencode(…)',
  },
  {
    what: 'keys of the wrong types',
    text: 'githubConfigUrl: [1]\nmaxRunners: {}\ntemplate: 5\ncontainerMode: []\nproxy: x\n',
    says: 'githubConfigUrl: is missing',
  },
  { what: 'an empty file', text: '', says: 'arc.yaml: is empty.' },
  { what: 'a text', text: 'hello', says: 'arc.yaml: holds no runner set' },
  { what: 'bad YAML', text: 'a: [1\nb: }', says: 'arc.yaml: line 2:' },
  {
    what: 'a file without an address',
    text: 'maxRunners: 5',
    says: 'githubConfigUrl: is missing: name the address with --url',
  },
  {
    what: 'an address that is none',
    text: set('githubConfigUrl: acme'),
    says: 'githubConfigUrl: must be the address',
  },
  { what: 'power over nodes that nobody allowed', text: DIND, says: 'pass --allow-untrusted' },
  {
    what: 'the same name twice, for the same jobs',
    text: `${set('githubConfigUrl: https://github.com/acme')}---\n${set('githubConfigUrl: https://github.com/acme', 'name: one, namespace: other')}`,
    says: 'labels: pool one has the same labels',
  },
  {
    what: 'two GitHubs',
    text: `${set('githubConfigUrl: https://github.com/acme')}---\n${set('githubConfigUrl: https://git.example.com/acme', 'name: two, namespace: other')}`,
    says: 'githubConfigUrl: is of https://git.example.com/api/v3',
  },
  {
    what: 'what Helm fills in',
    text: `${VALUES}template: {{ .Values.x }}\n`,
    says: 'has {{ … }}, which another program fills in',
  },
  {
    what: 'a bomb of aliases',
    text: `a: &a [x, x, x, x, x, x, x, x, x, x]\n${'bcdefghi'
      .split('')
      .map((key, n) => `${key}: &${key} [${Array(10).fill(`*${'abcdefgh'[n]}`).join(', ')}]`)
      .join('\n')}\n`,
    says: 'arc.yaml: ',
  },
  { what: 'deep nesting', text: `a: ${'['.repeat(20_000)}`, says: 'arc.yaml: ' },
  { what: 'too large a file', text: `# ${'x'.repeat(9_000_000)}`, says: 'has more than' },
];
