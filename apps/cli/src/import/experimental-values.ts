import { asList, asRecord, isRecord } from '@paddock/domain/pools/as-record';
import {
  DAEMON_CONTAINER,
  OFFICIAL_IMAGE,
  RUNNER_CONTAINER,
} from '@paddock/domain/pools/pod-template';
import { marksOf, said, textOf, textsOf } from './runner-set.ts';

type Mapping = Record<string, unknown>;

export interface ChartValues {
  readonly values: Mapping;
  readonly notes: readonly string[];
  /** How the chart's names of its account of kubernetes mode and of its Secret end. */
  readonly endings: { readonly account: string; readonly secret: string };
}

/** Values of the chart gha-runner-scale-set-experimental, in the words of the stable one. */
export function asStableValues(given: Mapping): ChartValues | undefined {
  const [scaleSet, auth, runner] = ['scaleset', 'auth', 'runner'].map((key) =>
    asRecord(given[key]),
  );
  if (scaleSet === undefined || auth === undefined || runner === undefined) return undefined;
  const isIt =
    isRecord(given['scaleset']) ||
    ['url', 'secretName', 'githubToken'].some((key) => textOf(auth[key]) !== undefined) ||
    ['mode', 'pod', 'kubernetesMode'].some((key) => Object.hasOwn(runner, key));
  if (!isIt || Object.hasOwn(given, 'githubConfigUrl')) return undefined;
  const [mode, container] = [textOf(runner['mode']) ?? '', asRecord(runner['container'])];
  const pod = asRecord(runner['pod']);
  const {
    containers,
    initContainers,
    serviceAccountName: _charts,
    ...spec
  } = asRecord(pod['spec']);
  const kubernetes = asRecord(runner['kubernetesMode']);
  const { image = OFFICIAL_IMAGE, command = ['/home/runner/run.sh'], ...more } = container;
  const notes = [
    // With a mode, the chart takes these two of the container, and the variables from elsewhere.
    ...(mode === ''
      ? []
      : Object.keys(more).map(
          (key) => `runner.container.${key}: the chart ignores it with a mode, so it is left out`,
        )),
    ...notCarried(runner),
  ];
  const { clientId, installationId: _install, privateKey } = asRecord(auth['app']);
  const secret = said({
    github_token: textOf(auth['githubToken']),
    github_app_id: textOf(clientId),
    github_app_private_key: textOf(privateKey),
  });
  const metadata = (key: string) =>
    asRecord(asRecord(asRecord(given['resource'])[key])['metadata']);
  const values = said({
    ...Object.fromEntries(
      ['proxy', 'githubServerTLS', 'namespaceOverride'].map((key) => [key, given[key]]),
    ),
    githubConfigUrl: auth['url'],
    githubConfigSecret: textOf(auth['secretName']) ?? secret,
    keyVault: isVault(given['secretResolution']) ? given['secretResolution'] : undefined,
    runnerScaleSetName: textOf(given['runnerScaleSetName']) ?? scaleSet['name'],
    runnerGroup: scaleSet['runnerGroup'],
    scaleSetLabels: scaleSet['labels'],
    minRunners: scaleSet['minRunners'],
    maxRunners: scaleSet['maxRunners'],
    containerMode: {
      type: mode,
      kubernetesModeWorkVolumeClaim: { ...CLAIM, ...asRecord(kubernetes['workVolumeClaim']) },
    },
    labels: { ...asRecord(metadata('all')['labels']) },
    resourceMeta: {
      autoscalingRunnerSet: metadata('autoscalingRunnerSet'),
      ephemeralRunnerSet: metadata('ephemeralRunnerSet'),
      ephemeralRunner: metadata('ephemeralRunner'),
    },
    template: {
      metadata: {
        ...asRecord(pod['metadata']),
        labels: {
          ...marksOf(asRecord(pod['metadata'])['labels']),
          'app.kubernetes.io/part-of': 'gha-rs',
        },
      },
      spec: said({
        ...spec,
        serviceAccountName:
          mode === 'kubernetes' ? textOf(kubernetes['serviceAccountName']) : undefined,
        initContainers: [
          ...asList(initContainers),
          ...(mode === 'dind' ? daemonOf(asRecord(runner['dind'])) : []),
        ],
        containers: [
          said({
            name: RUNNER_CONTAINER,
            image,
            command,
            ...(mode === '' ? more : { env: variablesOf(runner, kubernetes, mode) }),
          }),
          ...asList(containers),
        ],
      }),
    },
  });
  return { values, notes, endings: { account: '-kube-mode', secret: '-github-secret' } };
}

const CLAIM = {
  accessModes: ['ReadWriteOnce'],
  storageClassName: 'local-path',
  resources: { requests: { storage: '1Gi' } },
};

const isVault = (resolution: unknown): boolean =>
  (textOf(asRecord(resolution)['type']) ?? 'kubernetes') !== 'kubernetes';

function variablesOf(runner: Mapping, kubernetes: Mapping, mode: string): unknown[] {
  const { hookPath, requireJobContainer } = kubernetes;
  const ofMode =
    mode === 'kubernetes'
      ? [
          ...(textOf(hookPath) === undefined
            ? []
            : [{ name: 'ACTIONS_RUNNER_CONTAINER_HOOKS', value: hookPath }]),
          ...(requireJobContainer === false
            ? [{ name: 'ACTIONS_RUNNER_REQUIRE_JOB_CONTAINER', value: 'false' }]
            : []),
        ]
      : [];
  const wait = asRecord(runner['dind'])['waitForDockerInSeconds'];
  return [
    ...asList(runner['env']),
    ...ofMode,
    ...(mode === 'dind' && typeof wait === 'number'
      ? [{ name: 'RUNNER_WAIT_FOR_DOCKER_IN_SECONDS', value: String(wait) }]
      : []),
  ];
}

/** What the values change of the daemon, as a template of a pool says it. */
function daemonOf(dind: Mapping): Mapping[] {
  const { name: _name, env, ...fields } = asRecord(dind['container']);
  const group = dind['dockerGroupId'];
  const variables = [
    ...textsOf([group]).map((value) => ({ name: 'DOCKER_GROUP_GID', value })),
    ...asList(env),
  ];
  const changed = said({ ...fields, env: variables.length > 0 ? variables : undefined });
  return Object.keys(changed).length > 0 ? [{ name: DAEMON_CONTAINER, ...changed }] : [];
}

function notCarried(runner: Mapping): string[] {
  const dind = asRecord(runner['dind']);
  const kubernetes = asRecord(runner['kubernetesMode']);
  const socket = textOf(dind['dockerSock']) ?? 'unix:///var/run/docker.sock';
  const hasExtension = textOf(kubernetes['extensionRef']) ?? kubernetes['extension'];
  return [
    ...(socket === 'unix:///var/run/docker.sock'
      ? []
      : ['runner.dind.dockerSock: is left out: the daemon listens at /var/run/docker.sock']),
    ...(dind['copyRunnerExternals'] === false
      ? ['runner.dind.copyRunnerExternals: is left out: the externals are copied']
      : []),
    ...(hasExtension === undefined
      ? []
      : [
          'runner.kubernetesMode.extension: is left out: mount its ConfigMap in the template, and name it by ACTIONS_RUNNER_CONTAINER_HOOK_TEMPLATE',
        ]),
  ];
}
