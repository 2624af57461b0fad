import { asList, asRecord, isRecord } from '@paddock/domain/pools/as-record';
import { OFFICIAL_IMAGE, RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';
import { closestName } from '@paddock/runtime/closest-name';
import { asStableValues, type ChartValues } from './experimental-values.ts';
import { fromScaleSet } from './from-scale-set.ts';
import { added, isFilledIn, type RunnerSet, said, textOf, withRunner } from './runner-set.ts';

type Mapping = Record<string, unknown>;

const KEYS = new Set(
  `githubConfigUrl githubConfigSecret scaleSetLabels proxy maxRunners minRunners runnerGroup
  runnerScaleSetName githubServerTLS keyVault containerMode listenerTemplate listenerMetrics template
  controllerServiceAccount namespaceOverride nameOverride annotations labels resourceMeta`.split(
    /\s+/,
  ),
);
/** Helm's own, titles of `helm get values`, and those by which an umbrella chart switches a part on. */
const HARMLESS = new Set([
  'global',
  'enabled',
  'tags',
  'sops',
  'USER-SUPPLIED VALUES',
  'COMPUTED VALUES',
]);

const SIGNS = `githubConfigUrl githubConfigSecret scaleSetLabels maxRunners minRunners
  runnerScaleSetName controllerServiceAccount listenerTemplate`.split(/\s+/);

/** The mapping as the chart's values, if it is such; also of the experimental chart. */
export function asValues(mapping: Mapping): ChartValues | undefined {
  const stable = asStableValues(mapping);
  if (stable !== undefined) return stable;
  const containers = asList(asRecord(asRecord(mapping['template'])['spec'])['containers']);
  const isTemplate = containers.some((one) => asRecord(one)['name'] === RUNNER_CONTAINER);
  const isMode = asRecord(mapping['containerMode'])['type'] !== undefined;
  const isIt = SIGNS.some((key) => Object.hasOwn(mapping, key)) || isTemplate || isMode;
  // A chart that has this one as a part may have the same keys for itself.
  const isWhole = Object.entries(mapping).some(
    ([key, part]) => /^(?!x-)/.test(key) && Object.hasOwn(asRecord(part), 'githubConfigUrl'),
  );
  return isIt && !isWhole
    ? { values: mapping, notes: ignoredIn(mapping), endings: STABLE }
    : undefined;
}

export interface Release {
  readonly from: string;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  /** The nearest key, or the file: it names values that no release does. */
  readonly key: string;
  /** What a person calls it, if another program fills the name in. */
  readonly given?: string | undefined;
}

export function fromValues({ values, notes, endings }: ChartValues, release: Release): RunnerSet {
  const names = [textOf(values['runnerScaleSetName']), release.name].flatMap((one) => one ?? []);
  const name = names.find((one) => !isFilledIn(one)) ?? release.given ?? names[0] ?? release.key;
  const object = name.replaceAll('_', '-');
  const mode = modeOf(values['containerMode']);
  const claim = asRecord(values['containerMode'])['kubernetesModeWorkVolumeClaim'];
  const template = asRecord(values['template']);
  const account = `${object}${endings.account}`.slice(0, 63);
  const isKubernetes = mode.startsWith('kubernetes');
  const modeSpec = isKubernetes
    ? { serviceAccountName: account, ...inKubernetesMode(asRecord(template['spec']), mode, claim) }
    : asRecord(template['spec']);
  const tls = trusted(modeSpec, values['githubServerTLS']);
  const meta = asRecord(values['resourceMeta']);
  const secret = values['githubConfigSecret'];
  const all = [
    ...(names.length === 0 && release.given === undefined
      ? [`runnerScaleSetName: is not said here; the label is ${name}: --name names another`]
      : []),
    ...notes,
    ...secretNotes(secret),
    ...tls.notes,
  ];
  const set = fromScaleSet(
    {
      metadata: {
        name: object,
        namespace: textOf(values['namespaceOverride']) ?? release.namespace,
        labels: {
          'app.kubernetes.io/name': name,
          ...asRecord(values['labels']),
          ...asRecord(asRecord(meta['autoscalingRunnerSet'])['labels']),
        },
        annotations: isKubernetes
          ? { 'actions.github.com/cleanup-kubernetes-mode-service-account-name': account }
          : {},
      },
      spec: {
        ...values,
        runnerScaleSetName: name,
        runnerScaleSetLabels: values['scaleSetLabels'],
        githubConfigSecret:
          textOf(secret) ??
          (textOf(asRecord(secret)['github_app_private_key']) && `${object}${endings.secret}`),
        githubServerTLS: undefined,
        vaultConfig: textOf(asRecord(values['keyVault'])['type']) && values['keyVault'],
        ephemeralRunnerSetMetadata: meta['ephemeralRunnerSet'],
        ephemeralRunnerMetadata: meta['ephemeralRunner'],
        template: { metadata: template['metadata'], spec: tls.spec },
      },
    },
    `${release.from}: ${name}`,
    {
      pod: said({ containerMode: mode === 'dind' ? 'dind' : undefined, caBundle: tls.caBundle }),
      appId: idOf(asRecord(secret)['github_app_id']),
      rules: asRecord(values['containerMode'])['kubernetesModeAdditionalRoleRules'],
      notes: all,
    },
  );
  return { ...set, name };
}

const modeOf = (containerMode: unknown): string =>
  textOf(asRecord(containerMode)['type']) ?? textOf(containerMode) ?? '';

const idOf = (value: unknown): number | undefined =>
  /^[1-9]\d{0,15}$/.test(String(value)) ? Number(value) : undefined;

/** The template with what the chart adds so that the runner makes a pod for each job. */
export function inKubernetesMode(given: Mapping, mode: string, claim: unknown): Mapping {
  const isShared = mode === 'kubernetes';
  const env = (image: unknown): Mapping[] => [
    {
      name: 'ACTIONS_RUNNER_CONTAINER_HOOKS',
      value: `/home/runner/${isShared ? 'k8s' : 'k8s-novolume'}/index.js`,
    },
    {
      name: 'ACTIONS_RUNNER_POD_NAME',
      valueFrom: { fieldRef: { fieldPath: 'metadata.name' } },
    },
    { name: 'ACTIONS_RUNNER_REQUIRE_JOB_CONTAINER', value: 'true' },
    ...(isShared ? [] : [{ name: 'ACTIONS_RUNNER_IMAGE', value: image }]),
  ];
  const spec = withRunner(given, (runner) => {
    const { image = OFFICIAL_IMAGE } = runner;
    const mount = { name: 'work', mountPath: '/home/runner/_work' };
    return {
      ...runner,
      image,
      env: added(runner['env'], env(image)),
      volumeMounts: isShared ? added(runner['volumeMounts'], [mount]) : runner['volumeMounts'],
    };
  });
  const work = { name: 'work', ephemeral: { volumeClaimTemplate: { spec: claim } } };
  return isShared ? { ...spec, volumes: added(spec['volumes'], [work]) } : spec;
}

function secretNotes(secret: unknown): string[] {
  const { github_token: token, github_app_private_key: key } = asRecord(secret);
  if (!isFilledIn(textOf(key) ?? '${'))
    return ["githubConfigSecret: the App's key stands in the values: replace it by a new one"];
  return textOf(token) === undefined
    ? []
    : [
        'githubConfigSecret.github_token: Paddock takes no personal tokens: make an App with `paddock app create`',
      ];
}

const TRUSTED = /^\/usr\/local\/share\/ca-certificates\/?$/;

/** The certificate of a GitHub Enterprise Server, which the chart mounts into the runner. */
function trusted(
  spec: Mapping,
  given: unknown,
): { readonly spec: Mapping; readonly caBundle?: Mapping; readonly notes: string[] } {
  const { certificateFrom, runnerMountPath } = asRecord(given);
  const { name, key } = asRecord(asRecord(certificateFrom)['configMapKeyRef']);
  const [configMap, file] = [textOf(name), textOf(key)];
  const path = textOf(runnerMountPath);
  const notes = isRecord(given)
    ? ['githubServerTLS: Paddock itself needs the certificate too (docs/network.md)']
    : [];
  if (configMap === undefined || file === undefined || path === undefined) return { spec, notes };
  if (TRUSTED.test(path) && file.endsWith('.crt'))
    return { spec, caBundle: { configMap, key: file }, notes };
  const mountPath = `${path.replace(/\/+$/, '')}/${file}`;
  const volume = 'github-server-tls-cert';
  const mounted = withRunner(spec, (runner) => ({
    ...runner,
    env: added(runner['env'], [
      { name: 'NODE_EXTRA_CA_CERTS', value: mountPath },
      { name: 'RUNNER_UPDATE_CA_CERTS', value: '1' },
    ]),
    volumeMounts: added(runner['volumeMounts'], [{ name: volume, mountPath, subPath: file }]),
  }));
  const configured = { name: configMap, items: [{ key: file, path: file }] };
  const volumes = added(spec['volumes'], [{ name: volume, configMap: configured }]);
  return { spec: { ...mounted, volumes }, notes };
}

const unknown = (at: string, mapping: unknown, known: ReadonlySet<string>): string[] =>
  Object.keys(asRecord(mapping))
    .filter((key) => !known.has(key) && !HARMLESS.has(key) && !key.startsWith('x-'))
    .map((key) => {
      const meant = closestName(key, known);
      const hint = meant === undefined ? '' : `; did you mean ${at}${meant}?`;
      return `${at}${key}: the chart reads no such key, so it does nothing there and is left out${hint}`;
    });

/** Sentences about keys that do nothing there: the chart reads no such key at that place. */
function ignoredIn(values: Mapping): string[] {
  const notNumbers = ['minRunners', 'maxRunners']
    .filter((key) => typeof values[key] === 'string' && values[key] !== '')
    .map((key) =>
      isFilledIn(String(values[key]))
        ? `${key}: is filled in by another program, so it is left out: write a number`
        : `${key}: is text, which the chart ignores, so it is left out: write a number`,
    );
  const { containerMode, template } = values;
  const mode = modeOf(containerMode);
  const claim = asRecord(containerMode)['kubernetesModeWorkVolumeClaim'];
  const volumes = asList(asRecord(asRecord(template)['spec'])['volumes']).map(asRecord);
  return [
    ...unknown('', values, KEYS),
    ...unknown('template.', template, new Set(['metadata', 'spec'])),
    ...unknown('containerMode.', containerMode, MODE_KEYS),
    ...notNumbers,
    ...(mode === 'kubernetes' && claim === undefined && volumes.every(({ name }) => name !== 'work')
      ? [
          'containerMode.kubernetesModeWorkVolumeClaim: is missing: write the claim of the volume work',
        ]
      : []),
    ...(MODES.has(mode)
      ? []
      : [`containerMode.type: ${mode} is no mode of the chart, and does nothing`]),
  ];
}

const STABLE = { account: '-gha-rs-kube-mode', secret: '-gha-rs-github-secret' };

const MODES = new Set(['', 'dind', 'kubernetes', 'kubernetes-novolume']);
const MODE_KEYS = new Set(
  'type kubernetesModeWorkVolumeClaim kubernetesModeAdditionalRoleRules kubernetesModeServiceAccount'.split(
    ' ',
  ),
);
