import { asList, asRecord } from '@paddock/domain/pools/as-record';
import { DAEMON_CONTAINER, RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';
import { inKubernetesMode } from './from-chart-values.ts';
import { added, marksOf, numberOf, type RunnerSet, said, textOf, textsOf } from './runner-set.ts';

type Mapping = Record<string, unknown>;

/** Keys that stand in the spec there, and in the runner's container of a pod. */
const OF_CONTAINER = ['image', 'imagePullPolicy', 'env', 'envFrom', 'resources', 'volumeMounts'];
/** Keys of the runner's configuration, which is Paddock's. */
const OF_RUNNER = `organization repository enterprise labels group ephemeral workDir containerMode
  dockerdWithinRunnerContainer dockerEnabled dockerMTU dockerRegistryMirror dockerdContainerResources
  dockerVolumeMounts dockerEnv dockerVarRunVolumeSizeLimit volumeSizeLimit volumeStorageMedium
  sidecarContainers containers initContainers githubAPICredentialsFrom workVolumeClaimTemplate
  ephemeralContainers replicas selector serviceName template volumeClaimTemplates effectiveTime`.split(
  /\s+/,
);

/** A RunnerDeployment, RunnerSet or Runner, with the one of the others that is its autoscaler. */
export function fromRunnerDeployment(
  object: Mapping,
  from: string,
  others: readonly Mapping[],
): RunnerSet {
  const metadata = asRecord(object['metadata']);
  const outer = asRecord(object['spec']);
  const template = asRecord(outer['template']);
  const spec =
    {
      RunnerSet: { ...asRecord(template['spec']), ...outer },
      Runner: outer,
    }[String(object['kind'])] ?? asRecord(template['spec']);
  const name = textOf(metadata['name']) ?? '';
  const namespace = textOf(metadata['namespace']);
  const scaler = others.find((one) => scales(one, object));
  const scaling = asRecord(scaler?.['spec']);
  const replicas = numberOf(outer['replicas']);
  const place = textOf(spec['repository']) ?? textOf(spec['organization']);
  const enterprise = textOf(spec['enterprise']);
  const path = place ?? (enterprise === undefined ? undefined : `enterprises/${enterprise}`);
  const notes: string[] = [];
  const pod = podOf(spec, notes);
  const times = warmTimes(scaling['scheduledOverrides'], Date.now(), notes);
  if (asList(outer['volumeClaimTemplates']).length > 0)
    notes.push(
      'volumeClaimTemplates: is left out: write ephemeral.volumeClaimTemplate of a volume',
    );
  if (spec['ephemeral'] === false)
    notes.push('ephemeral: is false there; here each runner takes one job');
  const { 'kubernetes.io/os': os = 'linux', 'kubernetes.io/arch': arch } = marksOf(
    spec['nodeSelector'],
  );
  const marks = asRecord(template['metadata']);
  return {
    from,
    name,
    namespace,
    url: path === undefined ? undefined : `https://github.com/${path}`,
    labels: ['self-hosted', os, arch === 'arm64' ? arch : 'x64', ...textsOf(spec['labels'])],
    scaleSetLabels: [],
    runnerGroup: textOf(spec['group']),
    min: scaler === undefined ? (replicas ?? 1) : (numberOf(scaling['minReplicas']) ?? 0),
    times,
    max: scaler === undefined ? (replicas ?? 1) : numberOf(scaling['maxReplicas']),
    credentials: {
      secret: textOf(asRecord(asRecord(spec['githubAPICredentialsFrom'])['secretRef'])['name']),
    },
    pod: {
      ...pod,
      template: {
        metadata: {
          labels: { ...marksOf(marks['labels']), 'runner-deployment-name': name },
          annotations: marksOf(marks['annotations']),
        },
        spec: asRecord(pod['template']),
      },
    },
    notes,
  };
}

/** Files without a namespace get that of `kubectl apply -n`. */
export function scales(scaler: Mapping, object: Mapping): boolean {
  const { name, namespace } = asRecord(object['metadata']);
  const there = asRecord(scaler['metadata'])['namespace'] ?? namespace;
  return (
    scaler['kind'] === 'HorizontalRunnerAutoscaler' &&
    /^Runner(?:Deployment|Set)$/.test(String(object['kind'])) &&
    asRecord(asRecord(scaler['spec'])['scaleTargetRef'])['name'] === name &&
    there === (namespace ?? there)
  );
}

function podOf(spec: Mapping, notes: string[]): Mapping {
  const own = asList(spec['containers']).map(asRecord);
  const runner = said({
    ...own.find(({ name }) => name === RUNNER_CONTAINER),
    name: RUNNER_CONTAINER,
    ...Object.fromEntries(OF_CONTAINER.map((key) => [key, spec[key]]).filter(([, one]) => one)),
  });
  const image = textOf(runner['image']);
  if (image !== undefined && /(?:^|\/)summerwind\/actions-runner/.test(image)) {
    delete runner['image'];
    notes.push(
      `image: ${image} registers by a token, and its runner starts no other way: the official image takes its place; build yours on actions/actions-runner`,
    );
  } else if (image !== undefined)
    notes.push(
      `image: ${image} must start a runner by its JIT configuration, as one built on actions/actions-runner does`,
    );
  const isKubernetes = spec['containerMode'] === 'kubernetes';
  const hasDaemon =
    spec['dockerdWithinRunnerContainer'] === true || spec['dockerEnabled'] !== false;
  const isWindows = marksOf(spec['nodeSelector'])['kubernetes.io/os'] === 'windows';
  const isDind = hasDaemon && !isKubernetes && !isWindows;
  const daemon = said({
    name: DAEMON_CONTAINER,
    env: spec['dockerEnv'],
    volumeMounts: spec['dockerVolumeMounts'],
    resources: spec['dockerdContainerResources'],
    args: daemonArgs(spec),
  });
  const rest = Object.entries(spec).filter(
    ([key]) => !OF_RUNNER.includes(key) && !OF_CONTAINER.includes(key),
  );
  const template = {
    ...Object.fromEntries(rest),
    initContainers: added(
      spec['initContainers'],
      isDind && Object.keys(daemon).length > 1 ? [daemon] : [],
    ),
    containers: [
      runner,
      ...own.filter(({ name }) => name !== RUNNER_CONTAINER && name !== 'docker'),
      ...asList(spec['sidecarContainers']),
    ],
  };
  return said({
    containerMode: isDind ? 'dind' : undefined,
    template: isKubernetes
      ? inKubernetesMode(template, 'kubernetes', spec['workVolumeClaimTemplate'])
      : template,
  });
}

function daemonArgs({
  dockerRegistryMirror: mirror,
  dockerMTU: mtu,
}: Mapping): string[] | undefined {
  if (textOf(mirror) === undefined && typeof mtu !== 'number') return undefined;
  return [
    'dockerd',
    '--host=unix:///var/run/docker.sock',
    '--group=$(DOCKER_GROUP_GID)',
    ...(typeof mtu === 'number' ? [`--mtu=${mtu}`] : []),
    ...(typeof mirror === 'string' ? [`--registry-mirror=${mirror}`] : []),
  ];
}

const DAY = 24 * 60 * 60_000;
const PERIODS: Readonly<Record<string, number>> = { Daily: DAY, Weekly: 7 * DAY };
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const instant = (value: unknown): number => Date.parse(textOf(value) ?? '');

/**
 * The `times` of warm workers that `scheduledOverrides` of a HorizontalRunnerAutoscaler say. They
 * come again after days of 24 hours there, so the clock is that of UTC.
 */
function warmTimes(overrides: unknown, now: number, notes: string[]): Mapping[] {
  return asList(overrides).flatMap((override, n) => {
    const { startTime, endTime, minReplicas, recurrenceRule } = asRecord(override);
    const { frequency, untilTime } = asRecord(recurrenceRule);
    const [start = NaN, end = NaN, until = NaN] = [startTime, endTime, untilTime].map(instant);
    const workers = numberOf(minReplicas);
    const period = PERIODS[textOf(frequency) ?? ''] ?? 0;
    const isCarried = workers !== undefined && start < end && end - start <= period;
    const isOver = (textOf(frequency) === undefined ? end : until) < now;
    const says = isOver
      ? 'is left out: it is over'
      : isCarried
        ? `is in \`warm\` by the clock of UTC, as there${until > now ? ', and has no end here' : ''}; of several at once the most counts here, the first there`
        : 'is left out: warm workers come daily or weekly (docs/matching.md)';
    notes.push(`scheduledOverrides.${n}: ${says}`);
    if (isOver || !isCarried) return [];
    return timesOf(start, end, period).map((time) =>
      Object.assign(time, { timezone: 'UTC', workers }),
    );
  });
}

/** Whole days from the start's hour to the same, and what is left of the last one. */
function timesOf(start: number, end: number, period: number): Mapping[] {
  const whole = Math.floor((end - start) / DAY);
  const [from, to] = [start, end].map((at) => new Date(at).toISOString().slice(11, 16));
  const day = new Date(start).getUTCDay();
  const on = (first: number, last: number) =>
    period > DAY && { days: [...DAYS, ...DAYS].slice(day + first, day + last) };
  return [
    ...(whole > 0 ? [{ from, to: from, ...on(0, whole) }] : []),
    ...(from === to ? [] : [{ from, to, ...on(whole, whole + 1) }]),
  ];
}
