import type { V1Pod } from '@kubernetes/client-node';
import { asList } from '@paddock/domain/pools/as-record';
import { isForWindows } from '@paddock/domain/pools/is-for-windows';
import {
  type CaBundle,
  type PodKeys,
  type Proxy,
  templateWithKeys,
} from '@paddock/domain/pools/pod-keys';
import {
  isOfficialImage,
  DAEMON_CONTAINER,
  hasHooks,
  type PodTemplate,
  type PodTemplateContainer,
  RUNNER_CONTAINER,
  templateRunner,
} from '@paddock/domain/pools/pod-template';
import type { Pool } from '@paddock/domain/pools/pool';
import {
  type Additions,
  mergeLists,
  type Container,
  overlayContainer,
  mergeContainers,
  sameName,
  type Volume,
  dropNulls,
  type EnvVar,
} from './pod-overlay.ts';
import { dindAdditions } from './dind.ts';
import { labelsAndAnnotations, type WorkerIdentity } from './labels.ts';
import type { WireJson } from './core-api.ts';
import type { ObjectName } from './pods.ts';
import { JIT_CONFIG_KEY } from './secrets.ts';

const JIT_CONFIG_VARIABLE = 'ACTIONS_RUNNER_INPUT_JITCONFIG';
const RUN_SCRIPT = '/home/runner/run.sh';

/**
 * GitHub lets a job on a self-hosted runner take 5 days, and drops a waiting runner after one day.
 * A shorter deadline would kill a working runner. The default leaves a day for the image and
 * clean-up.
 */
export const SHORTEST_DEADLINE_SECONDS = 6.25 * 86_400;
const DEFAULT_DEADLINE_SECONDS = 7 * 86_400;

/** The keys of a pool that shape its pods. */
export type PodSettings = Partial<
  Pick<Pool, 'template' | 'containerMode' | 'proxy' | 'caBundle'> & PodKeys
> &
  Pick<Pool, 'image'>;

/** `name` is that of the worker, its registration, Secret and pod. */
export interface RunnerPodSpec extends WorkerIdentity, PodSettings, ObjectName {}

/**
 * The pod of one worker. It keeps the template's fields, unknown ones included, except those that
 * would break the runner (the table in docs/runner-pods.md). It does not hold the JIT config: the
 * container reads that from the Secret.
 */
export function runnerPod(worker: RunnerPodSpec): WireJson<V1Pod> {
  const template = templateWithKeys(worker);
  const metadata = dropNulls<NonNullable<PodTemplate['metadata']>>(template.metadata ?? {});
  const spec = dropNulls<NonNullable<PodTemplate['spec']>>(template.spec ?? {});
  const {
    activeDeadlineSeconds: deadline,
    containers = [],
    initContainers = [],
    volumes = [],
    ...rest
  } = spec;
  const additions = additionsOf(worker);
  const runner = containers.find(({ name }) => name === RUNNER_CONTAINER);
  const sidecars = containers
    .filter(({ name }) => name !== RUNNER_CONTAINER && !isReplacedDaemon(name, worker))
    .map(asSidecar);
  const marks = labelsAndAnnotations(worker);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: worker.name,
      namespace: worker.namespace,
      labels: { ...metadata.labels, ...marks.labels },
      annotations: {
        // A job cannot move: if its node is emptied, it is lost.
        'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
        'karpenter.sh/do-not-disrupt': 'true',
        ...metadata.annotations,
        ...marks.annotations,
      },
    },
    spec: {
      // Jobs run foreign code: no credentials of the cluster, unless the template wants them.
      ...(needsAccount(template) ? {} : { automountServiceAccountToken: false }),
      enableServiceLinks: false,
      ...rest,
      // A JIT config works once.
      restartPolicy: 'Never',
      activeDeadlineSeconds: Math.max(
        typeof deadline === 'number' ? deadline : DEFAULT_DEADLINE_SECONDS,
        SHORTEST_DEADLINE_SECONDS,
      ),
      initContainers: mergeContainers(additions.initContainers, [...initContainers, ...sidecars]),
      containers: [runnerContainer(runner, worker, additions)],
      volumes: mergeLists(additions.volumes, volumes as Volume[], sameName),
    },
  };
}

/**
 * The container mode's daemon replaces a container of its name in the template, as in the chart of
 * actions-runner-controller. Merged, the two could disagree about the socket. A template changes
 * our daemon in `initContainers`.
 */
const isReplacedDaemon = (name: string, { containerMode }: PodSettings): boolean =>
  name === DAEMON_CONTAINER && containerMode === 'dind';

/** Kubernetes' default holds if the template names a service account, or the runner makes pods. */
const needsAccount = (template: PodTemplate): boolean =>
  [template.spec?.['serviceAccountName'], template.spec?.['serviceAccount']].some(
    (name) => typeof name === 'string' && name !== '',
  ) || hasHooks(template);

function additionsOf({ image, containerMode = 'none', proxy, caBundle }: PodSettings): Additions {
  const variables = proxy === undefined ? [] : proxyVariables(proxy);
  const ca = caBundle === undefined ? NO_CA : caAdditions(caBundle);
  const env = [...variables, ...ca.env];
  const { mounts, volumes } = ca;
  if (containerMode === 'none') return { env, mounts, initContainers: [], volumes };
  const dind = dindAdditions({ runnerImage: image, env: variables, mounts: ca.daemonMounts });
  return {
    env: [...env, ...dind.env],
    mounts: [...mounts, ...dind.mounts],
    initContainers: dind.initContainers,
    volumes: [...volumes, ...dind.volumes],
  };
}

function runnerContainer(
  theirs: PodTemplateContainer | undefined,
  worker: RunnerPodSpec,
  { env, mounts }: Additions,
): Container {
  const jitConfig = {
    name: JIT_CONFIG_VARIABLE,
    valueFrom: { secretKeyRef: { name: worker.name, key: JIT_CONFIG_KEY } },
  };
  // An outdated runner then exits with 7 instead of 0, the code of a finished job.
  const deprecation = { name: 'ACTIONS_RUNNER_RETURN_VERSION_DEPRECATED_EXIT_CODE', value: '1' };
  // A restarted container would have no registration, so the pod's `restartPolicy` holds.
  const {
    restartPolicy: _restart,
    restartPolicyRules: _rules,
    env: theirEnv,
    ...given
  } = theirs ?? { name: RUNNER_CONTAINER };
  const ours = {
    name: RUNNER_CONTAINER,
    ...commandOf(worker),
    env: [deprecation, ...env],
    volumeMounts: [...mounts],
  };
  const laid = overlayContainer(ours, {
    ...given,
    env: theirEnv?.filter((variable) => variable.name !== JIT_CONFIG_VARIABLE),
  });
  return { ...laid, image: worker.image, env: [jitConfig, ...(laid.env ?? [])] };
}

/**
 * The official image has no command. A template's runner container was written for its image, so an
 * ENTRYPOINT of another image, and arguments to it, stay as they are. On Windows there is no such
 * script, and no official image.
 */
function commandOf(pool: PodSettings): { command?: string[] } {
  const { image, template } = pool;
  const theirs = templateRunner(template);
  const isLeftToImage =
    isForWindows(pool) ||
    (theirs !== undefined && (!isOfficialImage(image) || asList(theirs['args']).length > 0));
  return isLeftToImage ? {} : { command: [RUN_SCRIPT] };
}

/** The pod must end with its runner, so all other containers become native sidecars. */
const asSidecar = (container: PodTemplateContainer): PodTemplateContainer => ({
  ...container,
  restartPolicy: 'Always',
});

/** A proxy's variables in both cases: curl reads http_proxy in lower case only, others in upper. */
function proxyVariables({ http, https, noProxy }: Proxy): EnvVar[] {
  const values = { HTTP_PROXY: http, HTTPS_PROXY: https, NO_PROXY: noProxy?.join(',') };
  return Object.entries(values).flatMap(([upper, value]) =>
    value === undefined ? [] : [upper, upper.toLowerCase()].map((name) => ({ name, value })),
  );
}

/** The name that actions-runner-controller uses. */
const CA_VOLUME = 'github-server-tls-cert';

/**
 * update-ca-certificates reads it. The runner's start script calls that if RUNNER_UPDATE_CA_CERTS
 * is set.
 */
const TRUSTED_FOLDER = '/usr/local/share/ca-certificates';

const NO_CA = { env: [], mounts: [], daemonMounts: [], volumes: [] };

/**
 * Adds the bundle to the runner's trusted certificates: those of the system's store (.NET, curl,
 * git) and of Node.js. The Docker daemon, a Go program, reads every file of its folder and the
 * system's bundle.
 */
function caAdditions({ configMap, key }: CaBundle) {
  const mountPath = `${TRUSTED_FOLDER}/${key}`;
  const mount = { name: CA_VOLUME, subPath: key, readOnly: true };
  return {
    env: [
      { name: 'NODE_EXTRA_CA_CERTS', value: mountPath },
      { name: 'RUNNER_UPDATE_CA_CERTS', value: '1' },
    ],
    mounts: [{ ...mount, mountPath }],
    daemonMounts: [{ ...mount, mountPath: `/etc/ssl/certs/paddock-${key}` }],
    volumes: [{ name: CA_VOLUME, configMap: { name: configMap, items: [{ key, path: key }] } }],
  };
}
