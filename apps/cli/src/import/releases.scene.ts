import { type BadFile, GOOD_FILES, type GoodFile } from './files.scene.ts';
import { DEPLOYED_FILES } from './runner-deployments.scene.ts';
import { WRAPPED_FILES } from './wrappings.scene.ts';

const URL = 'githubConfigUrl: https://github.com/acme';

const application = (name: string, source: string): string =>
  `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: { name: ${name} }\nspec: { destination: { namespace: runners }, source: { ${source} } }\n`;

/** Values in files beside the release that names them, and what is in no file at all. */
const RELEASE_FILES: readonly GoodFile[] = [
  {
    what: 'two Applications with one file of values, which each changes',
    name: 'apps.yaml',
    text: ['one', 'two']
      .map((name, n) =>
        application(
          name,
          `chart: gha-runner-scale-set, helm: { valueFiles: [$values/ci/common.yaml], valuesObject: { maxRunners: ${n + 1} } }`,
        ),
      )
      .join('---\n'),
    beside: { 'ci/common.yaml': `${URL}\nminRunners: 1\nmaxRunners: 9\n` },
    config: {
      pools: [
        { name: 'one', namespace: 'runners', maxWorkers: 1, warm: [{ workers: 1 }] },
        { name: 'two', namespace: 'runners', maxWorkers: 2, warm: [{ workers: 1 }] },
      ],
    },
  },
  {
    what: 'an Application of an own chart, whose values stand beside it',
    name: 'app.yaml',
    text: application('mine', 'path: charts/own, helm: { valueFiles: [../../env/mine.yaml] }'),
    beside: { 'env/mine.yaml': `gha-runner-scale-set: { ${URL} }\n` },
    config: { pools: [{ name: 'mine', namespace: 'runners' }] },
  },
  {
    what: 'a helmfile of two documents, whose values are in a file, and then in the helmfile',
    name: 'helmfile.yaml',
    text: 'environments: { prod: { values: [env.yaml] } }\n---\nreleases:\n  - { name: linux, namespace: runners, chart: arc/gha-runner-scale-set, values: [linux/values.yaml, { maxRunners: 3 }], set: [{ name: minRunners, value: 2 }] }\n  - { name: metrics, chart: other/prometheus, values: [metrics.yaml] }\n',
    beside: { 'linux/values.yaml': `${URL}\nmaxRunners: 1\n` },
    config: { pools: [{ name: 'linux', maxWorkers: 3, warm: [{ scope: 'acme', workers: 2 }] }] },
  },
  {
    what: 'a helmfile with a template, and a release that is not installed',
    name: 'helmfile.yaml',
    text: `templates: { base: &base { namespace: runners, values: [{ ${URL} }] } }\nreleases: [{ <<: *base, name: linux, chart: c }, { <<: *base, name: arm, installed: false }, { name: big, inherit: [{ template: base }] }]\n`,
    config: { pools: [{ name: 'linux', namespace: 'runners' }] },
    says: [
      'arm: is switched off there by `installed: false`: it becomes no pool.',
      'big: inherit: its template is not read here: import what `helmfile template` makes of it.',
    ],
    saysNot: ['base'],
  },
  {
    what: 'a release of Crossplane, whose chart is an object',
    text: `apiVersion: helm.crossplane.io/v1beta1\nkind: Release\nmetadata: { name: linux }\nspec: { forProvider: { chart: { name: gha-runner-scale-set }, namespace: runners, set: [{ name: maxRunners, value: '4' }], values: { ${URL} } } }`,
    config: { pools: [{ name: 'linux', namespace: 'runners', maxWorkers: 4 }] },
  },
  {
    what: 'a state of Pulumi, with inputs and outputs',
    name: 'stack.json',
    text: JSON.stringify(
      ['inputs', 'outputs'].map((key) => ({
        [key]: { name: 'linux', values: { githubConfigUrl: 'https://github.com/acme' } },
      })),
    ),
    config: { pools: [{ name: 'linux' }] },
  },
  {
    what: 'a chart of kustomize, with a file and values of its own',
    name: 'kustomization.yaml',
    text: 'helmCharts:\n  - { name: gha-runner-scale-set, repo: oci://example.com, releaseName: linux, namespace: runners, valuesFile: v.yaml, valuesInline: { maxRunners: 4 } }\n',
    beside: { 'v.yaml': URL },
    config: { pools: [{ name: 'linux', namespace: 'runners', maxWorkers: 4 }] },
  },
  {
    what: 'the same with its kind, as kustomize itself writes it',
    name: 'kustomization.yaml',
    text: `apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: runners\nhelmCharts:\n  - { name: gha-runner-scale-set, repo: oci://example.com, releaseName: linux, valuesInline: { ${URL} } }\n`,
    config: { pools: [{ name: 'linux', namespace: 'runners' }] },
  },
  {
    what: 'a release of Terraform whose values are in a template, with `dynamic` blocks, and its controller',
    name: 'arc.tf',
    text: `resource "helm_release" "controller" {
  chart  = "gha-runner-scale-set-controller"
  values = [yamlencode({ a = 1 })]
}
resource "helm_release" "set" {
  name      = "linux"
  namespace = "runners"
  chart     = "gha-runner-scale-set"
  values    = [templatefile("\${path.module}/linux.yaml", { image = var.image })]
  dynamic "set" {
    content {
      name  = "maxRunners"
      value = 6
    }
  }
}
`,
    beside: {
      'linux.yaml': `${URL}\ngithubConfigSecret: \${ secret }\nrunnerGroup: \${ group }\ntemplate: { spec: { containers: [{ name: runner, image: "\${ image }", command: [sh, -c, "echo \${HOME}"] }] } }\n`,
    },
    config: { pools: [{ name: 'linux', namespace: 'runners', maxWorkers: 6 }] },
    says: [
      'runnerGroup: ${ group } is filled in by another program: write there what that puts in.',
      'template.spec.containers.0.image: ${ image } is filled in by another program',
      'kubectl get secret SECRET -n runners ',
    ],
    saysNot: ['HOME', 'controller'],
  },
  {
    what: 'a module and objects of Terraform, beside a release of something else',
    name: 'arc.tf',
    text: `module "set" {
  release_name = "linux"
  chart        = "gha-runner-scale-set"
  values_files = [templatefile("\${path.module}/linux.yaml", {
    githubConfigUrl = var.url
  })]
}
resource "kubectl_manifest" "old" {
  yaml_body = <<-YAML
    kind: RunnerDeployment
    metadata: { name: old }
    spec: { template: { spec: { repository: acme/shop } } }
  YAML
}
resource "kubectl_manifest" "scaler" {
  yaml_body = <<-YAML
    kind: HorizontalRunnerAutoscaler
    metadata: { name: h }
    spec: { scaleTargetRef: { name: old }, maxReplicas: 7 }
  YAML
}
resource "helm_release" "certificates" {
  chart  = "cert-manager"
  values = [yamlencode({ a = 1 })]
}
`,
    beside: { 'linux.yaml': URL },
    config: { pools: [{ name: 'linux' }, { name: 'old', maxWorkers: 7 }] },
    saysNot: ['certificates'],
  },
  {
    what: 'an umbrella chart with the key of the address for itself',
    text: `${URL}\ngha-runner-scale-set: { ${URL}, runnerScaleSetName: linux, maxRunners: 5 }\nnamespaces: { a: b }\n`,
    config: { pools: [{ name: 'linux', maxWorkers: 5 }] },
    saysNot: ['the chart reads no such key'],
  },
  {
    what: 'an umbrella chart with a set that is switched off',
    text: `linux: { enabled: true, ${URL} }\narm: { enabled: false, ${URL} }\n`,
    config: { pools: [{ name: 'linux' }] },
    says: ['arm: is switched off there by `enabled: false`: it becomes no pool.'],
  },
  {
    what: 'the definitions of the old controller are no sets, nor is its listener',
    text: [
      'kind: RunnerDeployment\nmetadata: { name: old }\nspec: { template: { spec: { repository: acme/shop } } }',
      'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: { name: d }\nspec: { names: { kind: RunnerDeployment }, versions: [{ schema: { githubConfigUrl: {} } }] }',
      `apiVersion: actions.github.com/v1alpha1\nkind: AutoscalingListener\nmetadata: { name: l }\nspec: { ${URL} }`,
    ].join('\n---\n'),
    config: { pools: [{ name: 'old' }] },
    says: ['CustomResourceDefinition d: holds no runner set.', 'AutoscalingListener l: is made by'],
  },
  {
    what: 'a name that only the file has, and how to name another',
    name: 'values-linux.yaml',
    text: URL,
    config: { pools: [{ name: 'linux' }] },
    says: ['runnerScaleSetName: is not said here; the label is linux'],
  },
  {
    what: 'what sops, a plugin of Argo CD or a person puts in',
    text: `${URL}\nminRunners: ENC[AES256_GCM,data:eA==,type:int]\nmaxRunners: 5\ngithubConfigSecret: { github_app_private_key: <path:secret/arc#key> }\ntemplate: { spec: { containers: [{ name: runner, image: <REGISTRY>/runner:1 }] } }\nsops: { mac: x }\n`,
    config: { pools: [{ maxWorkers: 5 }] },
    says: [
      'minRunners: is filled in by another program',
      'template.spec.containers.0.image: <REGISTRY>/runner:1 is filled in by another program',
    ],
    saysNot: ["the App's key stands in the values", 'sops'],
  },
];

export const ALL_FILES = [...GOOD_FILES, ...WRAPPED_FILES, ...DEPLOYED_FILES, ...RELEASE_FILES];

export const BAD_RELEASES: readonly BadFile[] = [
  {
    what: 'a HelmRelease whose address is in a Secret',
    text: 'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: { name: a }\nspec: { valuesFrom: [{ kind: Secret, name: s, valuesKey: u, targetPath: githubConfigUrl }] }',
    says: 'githubConfigUrl: ${Secret s: u} is filled in by another program: name the address with --url',
  },
  {
    what: 'a template of Terraform whose path has a gap',
    name: 'main.tf',
    text: 'resource "helm_release" "arc" {\n  chart = "gha-runner-scale-set"\n  values = [file("arc-${x ? "a" : b}.yaml")]\n}\n',
    says: 'main.tf: helm_release arc: valueFiles: its values are in arc-${x ? "a" : b}.yaml: import that file',
  },
  {
    what: 'the source of a program',
    name: 'sets.jsonnet',
    text: "local name = import 'name';\n{ kind: name }\n",
    says: 'sets.jsonnet: is no YAML: import what the program makes of it, as of `helm get values`',
  },
  {
    what: 'an object in words of Terraform',
    name: 'main.tf',
    text: 'resource "kubernetes_manifest" "old" {\n  manifest = {\n    kind = "RunnerDeployment"\n  }\n}\n',
    says: 'main.tf: kubernetes_manifest old: has yamlencode(…), or other words of Terraform: import what it makes, as of `helm get values` or `kubectl get -o yaml`.',
  },
  {
    what: 'a release of Terraform whose values a variable has',
    name: 'main.tf',
    text: 'resource "helm_release" "arc" {\n  chart  = "gha-runner-scale-set"\n  values = [local.values]\n}\n',
    says: 'main.tf: helm_release arc: has yamlencode(…), or other words of Terraform: import what it makes',
  },
  {
    what: 'an Application whose values are in a file',
    text: 'apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: { name: a }\nspec: { sources: [{ chart: gha-runner-scale-set, helm: { valueFiles: [$values/x.yaml] } }] }',
    says: 'valueFiles: its values are in $values/x.yaml: import that file.',
  },
  {
    what: 'an Application of a chart that only the address names',
    text: application(
      'a',
      'repoURL: oci://example.com/gha-runner-scale-set, path: ., helm: { valueFiles: [$values/x.yaml] }',
    ),
    says: 'valueFiles: its values are in $values/x.yaml: import that file.',
  },
  {
    what: 'a package of Zarf whose values are in a file',
    text: 'kind: ZarfPackageConfig\ncomponents: [{ charts: [{ name: sets, releaseName: linux, url: oci://example.com/gha-runner-scale-set, valuesFiles: [v.yaml] }] }]',
    says: 'valueFiles: its values are in v.yaml: import that file.',
  },
  {
    what: 'an ApplicationSet with values that a template fills in',
    text: 'apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: { name: a }\nspec: { template: { spec: { source: { helm: { values: "a: [\\n{{- if x }}\\n" } } } } }',
    says: 'arc.yaml: ApplicationSet a: has {{ … }}, which another program fills in',
  },
  {
    what: 'an address that sops has encrypted',
    text: 'githubConfigUrl: ENC[AES256_GCM,data:eA==,type:str]',
    says: 'githubConfigUrl: ENC[AES256_GCM,data:eA==,type:str] is filled in by another program: name the address with --url',
  },
  {
    what: 'an organisation that a person fills in',
    text: 'kind: RunnerDeployment\nmetadata: { name: old }\nspec: { template: { spec: { organization: <YOUR_ORG> } } }',
    says: 'githubConfigUrl: https://github.com/<YOUR_ORG> is filled in by another program: name the address with --url',
  },
  {
    what: 'an Application of an own chart whose values are in a file',
    text: 'apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: { name: a }\nspec: { source: { path: charts/own, helm: { valueFiles: [mine.yaml] } } }',
    says: 'valueFiles: charts/own/mine.yaml is not read here: import it as well.',
  },
];
