import type { GoodFile } from './files.scene.ts';

const VALUES = `
githubConfigUrl: https://github.com/acme
githubConfigSecret: arc-app
maxRunners: 5
`;

const indented = (text: string, by: number): string => text.replaceAll(/^(?=.)/gm, ' '.repeat(by));

const release = (spec: string): string =>
  `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: { name: linux, namespace: runners }\nspec:\n${indented(spec, 2)}\n`;

const application = (spec: string): string =>
  `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: { name: linux, namespace: argocd }\nspec:\n  destination: { namespace: runners }\n${indented(spec, 2)}\n`;

const ONE = { pools: [{ name: 'linux', labels: ['linux'], namespace: 'runners', maxWorkers: 5 }] };

/** The sets of one release in the wrappings of other programs. */
export const WRAPPED_FILES: readonly GoodFile[] = [
  {
    what: 'the account of kubernetes mode goes with the old release: the pool gets its own',
    text: `kind: AutoscalingRunnerSet
metadata:
  name: one
  namespace: runners
  annotations:
    actions.github.com/cleanup-kubernetes-mode-service-account-name: k
    actions.github.com/cleanup-kubernetes-mode-role-name: r
spec:
  githubConfigUrl: https://github.com/acme
  template: { spec: { serviceAccountName: k } }`,
    config: { pools: [{ template: { spec: { serviceAccountName: 'paddock-one' } } }] },
    says: [
      'if `kubectl get role r -o yaml` has more rules',
      "kubectl apply -f - <<'END'\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: paddock-one\n  namespace: runners\n---\n",
      'resources:\n      - jobs\n',
    ],
  },
  {
    what: 'more rules of kubernetes mode are in the new Role, and none for Jobs without a volume',
    text: `githubConfigUrl: https://github.com/acme
runnerScaleSetName: hooked
containerMode:
  type: kubernetes-novolume
  kubernetesModeAdditionalRoleRules: [{ apiGroups: [''], resources: [services], verbs: [create] }]`,
    words: ['--namespace', 'runners'],
    config: { pools: [{ template: { spec: { serviceAccountName: 'paddock-hooked' } } }] },
    says: [
      'resources:\n      - secrets\n    verbs:\n      - get\n      - list\n      - create\n      - delete\n  - apiGroups:\n      - ""\n    resources:\n      - services\n',
    ],
  },
  {
    what: 'values are named by --name; without a namespace the pool has the usual one',
    words: ['--name', 'linux'],
    text: VALUES,
    config: { pools: [{ name: 'linux', namespace: 'arc-runners' }] },
    says: ['namespace: is not said here; the pool has arc-runners'],
  },
  { what: 'a HelmRelease', text: release(`values:${indented(VALUES, 2)}`), config: ONE },
  {
    what: 'a HelmRelease with a target, and values from elsewhere',
    text: release(
      `targetNamespace: build\nvaluesFrom: [{ kind: ConfigMap, name: more }]\nvalues:${indented(VALUES, 2)}`,
    ),
    config: { pools: [{ name: 'build-linux', namespace: 'build' }] },
    says: ['spec.valuesFrom: values of ConfigMap more are not read here'],
  },
  {
    what: 'an Application with values as a text',
    text: application(`source:\n  helm:\n    values: |${indented(VALUES, 6)}`),
    config: ONE,
  },
  {
    what: 'an Application with values as an object, which parameters change',
    text: application(
      `source:\n  helm:\n    releaseName: big\n    parameters:\n      - { name: maxRunners, value: '9' }\n      - { name: 'template.spec.containers[0].name', value: runner }\n      - { name: 'template.spec.containers[0].image', value: 'x:1' }\n    valuesObject:${indented(VALUES, 6)}`,
    ),
    config: {
      pools: [
        {
          name: 'big',
          maxWorkers: 9,
          template: { spec: { containers: [{ name: 'runner', image: 'x:1' }] } },
        },
      ],
    },
  },
  {
    what: 'an Application of several sources',
    text: application(
      `sources:\n  - { ref: values, repoURL: r }\n  - chart: gha-runner-scale-set\n    helm:\n      valueFiles: [$values/linux.yaml]\n      valuesObject:${indented(VALUES, 8)}`,
    ),
    config: ONE,
    says: ['valueFiles: $values/linux.yaml is not read here: import it as well'],
  },
  {
    what: 'a ConfigMap with values as a text',
    words: ['--name', 'linux', '--namespace', 'runners'],
    text: `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: v }\ndata:\n  values.yaml: |${indented(VALUES, 4)}`,
    config: ONE,
  },
  {
    what: 'several documents, and anchors with merge keys',
    words: ['--namespace', 'runners'],
    text: `x-common: &common { githubConfigUrl: https://github.com/acme, githubConfigSecret: s }\na: { <<: *common, maxRunners: 1 }\nb: { <<: *common, maxRunners: 2 }\n---\nc: { githubConfigUrl: https://github.com/acme, maxRunners: 4 }\n`,
    config: {
      pools: [
        { name: 'a', maxWorkers: 1 },
        { name: 'b', maxWorkers: 2 },
        { name: 'c', maxWorkers: 4 },
      ],
      entities: { acme: { maxWorkers: 7 } },
    },
  },
  {
    what: 'a here-document of Terraform, with what set changes',
    name: 'arc.tf',
    text: `resource "helm_release" "arc" {\n  name      = "linux"\n  namespace = "runners"\n  values = [<<-EOT\n${indented(VALUES.trim(), 4)}\n    template:\n      spec:\n        containers:\n          - name: runner\n            image: "x"\n    EOT\n  ]\n  set {\n    name  = "minRunners"\n    value = 1\n  }\n}\nresource "aws_vpc" "x" {\n  name = "no"\n}\n`,
    config: { ...ONE, pools: [{ ...ONE.pools[0], warm: [{ scope: 'acme', workers: 1 }] }] },
  },
  {
    what: 'dind is dind, once a person has allowed it',
    words: ['--name', 'linux', '--namespace', 'runners', '--allow-untrusted'],
    text: `${VALUES}containerMode: { type: dind }\n`,
    config: { pools: [{ containerMode: 'dind', allowUntrusted: true }] },
  },
  {
    what: 'keys that the chart ignores are named, with the one that was meant',
    text: `${VALUES}maxRunner: 7\nresources: {}\nminRunners: "2"\ntemplate: { containers: [] }\ncontainerMode: { type: docker }\n`,
    config: { pools: [{ maxWorkers: 5 }] },
    says: [
      'maxRunner: the chart reads no such key, so it does nothing there and is left out; did you mean maxRunners?',
      'resources: the chart reads no such key',
      'template.containers: the chart reads no such key',
      'minRunners: is text, which the chart ignores',
      'containerMode.type: docker is no mode of the chart',
    ],
  },
  {
    what: 'a token is named with what to do, and the ID of an App is taken',
    text: VALUES.replace('arc-app', "{ github_token: t, github_app_id: '77' }"),
    config: { github: { apps: [{ id: 77 }] } },
    says: ['githubConfigSecret.github_token: Paddock takes no personal tokens'],
  },
  {
    what: 'a certificate is the bundle of the pool',
    text: `${VALUES}githubServerTLS:\n  runnerMountPath: /usr/local/share/ca-certificates/\n  certificateFrom: { configMapKeyRef: { name: ca, key: our.crt } }\n`,
    config: { pools: [{ caBundle: { configMap: 'ca', key: 'our.crt' } }] },
    says: ['githubServerTLS: Paddock itself needs the certificate too'],
  },
  {
    what: 'YAML is read as Helm reads it: octal numbers, and yes as true',
    text: `${VALUES}template: { spec: { hostNetwork: no, containers: [{ name: runner, image: i, env: [{ name: A, value: "yes" }] }], volumes: [{ name: v, configMap: { name: c, defaultMode: 0644 } }] } }\n`,
    config: {
      pools: [
        {
          template: {
            spec: {
              hostNetwork: false,
              containers: [{ env: [{ value: 'yes' }] }],
              volumes: [{ configMap: { defaultMode: 420 } }],
            },
          },
        },
      ],
    },
  },
  {
    what: 'values of the experimental chart',
    words: ['--name', 'linux', '--namespace', 'runners', '--allow-untrusted'],
    text: `
scaleset: { maxRunners: 5, runnerGroup: default }
auth: { url: 'https://github.com/acme', app: { clientId: '42', privateKey: k } }
runner:
  mode: dind
  container: { image: 'x:1', resources: { limits: { cpu: 1 } } }
  dind: { dockerGroupId: '999', container: { image: 'docker:28' } }
`,
    config: {
      github: { apps: [{ id: 42 }] },
      pools: [
        {
          maxWorkers: 5,
          containerMode: 'dind',
          template: {
            spec: {
              initContainers: [
                {
                  name: 'dind',
                  image: 'docker:28',
                  env: [{ name: 'DOCKER_GROUP_GID', value: '999' }],
                },
              ],
              containers: [{ name: 'runner', image: 'x:1' }],
            },
          },
        },
      ],
    },
    says: ['runner.container.resources: the chart ignores it with a mode'],
  },
  {
    what: 'a name and numbers that Terraform fills in',
    name: 'main.tf',
    words: ['--name', 'linux', '--namespace', 'runners'],
    text: `resource "helm_release" "arc" {\n  name      = var.name\n  namespace = "runners"\n  values = [<<EOT\n${VALUES}minRunners: \${var.min}\nEOT\n  ]\n}\n`,
    config: ONE,
    says: ['minRunners: is filled in by another program'],
  },
  {
    what: 'a HelmChart of k3s, with values as a text',
    text: `apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: { name: linux, namespace: kube-system }\nspec:\n  targetNamespace: runners\n  valuesContent: |${indented(VALUES, 4)}`,
    config: ONE,
  },
  {
    what: 'values as helm prints them, with the key of the App',
    words: ['--name', 'linux', '--namespace', 'runners'],
    text: `USER-SUPPLIED VALUES:\n${VALUES.replace('arc-app', '{ github_app_private_key: k }')}`,
    config: ONE,
    says: ['kubectl get secret linux-gha-rs-github-secret -n runners'],
  },
  {
    what: 'label lists of runners on machines, in YAML',
    name: 'linux-x64.yaml',
    words: ['--url', 'https://github.com/acme'],
    text: `matcherConfig:\n  exactMatch: true\n  labelMatchers:\n    - [self-hosted, linux, x64]\n    - [self-hosted, linux, x64, big]\nrunner_config: { runners_maximum_count: 7, instance_types: [m5.large] }\n`,
    config: {
      pools: [{ name: 'linux-x64', labels: ['self-hosted', 'linux', 'x64', 'big'], maxWorkers: 7 }],
    },
    says: ['matcherConfig.labelMatchers: has several lists'],
  },
  {
    what: 'label lists of runners on machines, in Terraform',
    name: 'main.tf',
    words: ['--url', 'https://github.com/acme'],
    text: `module "runners" {\n  multi_runner_config = {\n    "arm" = {\n      matcherConfig : {\n        labelMatchers = [["self-hosted", "arm64"]]\n        exactMatch = false\n      }\n      runner_config = {\n        runners_maximum_count = 4\n      }\n    }\n  }\n}\n`,
    config: { pools: [{ name: 'arm', labels: ['self-hosted', 'arm64'], maxWorkers: 4 }] },
    says: ['matcherConfig.exactMatch: is false there'],
  },
];
