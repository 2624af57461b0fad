import type { V1Pod, V1Secret } from '@kubernetes/client-node';
import { type PodKeys, templateWithKeys } from '@paddock/domain/pools/pod-keys';
import { asList } from '@paddock/domain/pools/as-record';
import { isOfficialImage } from '@paddock/domain/pools/official-image';
import {
  DAEMON_CONTAINER,
  type PodTemplate,
  type PodTemplateContainer,
  RUNNER_CONTAINER,
  templateRunner,
} from '@paddock/domain/pools/pod-template';
import type { Pool } from '@paddock/domain/pools/pool';
import { type Additions, beside, type Container, layOver, mergeContainers, sameName, type Volume, withoutNulls } from './additions.ts';
import type { AsSent } from './as-sent.ts';
import { dindAdditions } from './dind.ts';
import { marksOf, type WorkerIdentity } from './labels.ts';
import { caAdditions, caMountOfDaemon, proxyVariables } from './outside.ts';

/** Where in the Secret the JIT config stands. */
export const JIT_CONFIG_KEY = 'jitconfig';
const JIT_CONFIG_VARIABLE = 'ACTIONS_RUNNER_INPUT_JITCONFIG';
const RUN_SCRIPT = '/home/runner/run.sh';
/** Set where jobs run in pods of their own, which the runner makes through the API server. */
const HOOKS_VARIABLE = 'ACTIONS_RUNNER_CONTAINER_HOOKS';

/**
 * GitHub lets a job on a self-hosted runner take 5 days, and forgets a runner that waits for one after a day: a shorter deadline would
 * kill a working runner (P2). The default leaves a day for the image and the clean-up.
 */
export const SHORTEST_DEADLINE_SECONDS = 6.25 * 86_400;
const DEFAULT_DEADLINE_SECONDS = 7 * 86_400;

/** What a pool says of its pods. */
export type PodSettings = Partial<Pick<Pool, 'template' | 'containerMode' | 'proxy' | 'caBundle'> & PodKeys> & Pick<Pool, 'image'>;

export interface RunnerPodSpec extends WorkerIdentity, PodSettings {
  /** The name of worker, registration, Secret and pod alike. */
  readonly name: string;
  readonly namespace: string;
}

/**
 * The pod of one worker. The template's fields are kept as they are, unknown ones included, except where they would break the runner;
 * docs/pools.md has the table of what wins. The JIT config itself is nowhere in it: the container reads it from the Secret.
 */
export function runnerPod(worker: RunnerPodSpec): AsSent<V1Pod> {
  const template = templateWithKeys(worker);
  const metadata = withoutNulls<NonNullable<PodTemplate['metadata']>>(template.metadata ?? {});
  const spec = withoutNulls<NonNullable<PodTemplate['spec']>>(template.spec ?? {});
  const { activeDeadlineSeconds: deadline, containers = [], initContainers = [], volumes = [], ...rest } = spec;
  const additions = additionsOf(worker);
  const runner = containers.find(({ name }) => name === RUNNER_CONTAINER);
  const sidecars = containers.filter(({ name }) => name !== RUNNER_CONTAINER && !isReplacedDaemon(name, worker)).map(asSidecar);
  const init = mergeContainers(additions.initContainers ?? [], [...initContainers, ...sidecars]);
  const allVolumes = beside(additions.volumes, volumes as Volume[], sameName);
  const marks = marksOf(worker);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: worker.name,
      namespace: worker.namespace,
      labels: { ...metadata.labels, ...marks.labels },
      annotations: {
        // A node that is emptied under a running job loses that job: nothing can move it.
        'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
        'karpenter.sh/do-not-disrupt': 'true',
        ...metadata.annotations,
        ...marks.annotations,
      },
    },
    spec: {
      // Jobs run foreign code: no credentials of the cluster unless the template asks for them.
      ...(needsAccount(spec, runner) ? {} : { automountServiceAccountToken: false }),
      enableServiceLinks: false,
      ...rest,
      // A JIT config works once.
      restartPolicy: 'Never',
      activeDeadlineSeconds: Math.max(typeof deadline === 'number' ? deadline : DEFAULT_DEADLINE_SECONDS, SHORTEST_DEADLINE_SECONDS),
      ...(init.length === 0 ? {} : { initContainers: init }),
      containers: [runnerContainer(runner, worker, additions)],
      ...(allVolumes.length === 0 ? {} : { volumes: allVolumes }),
    },
  };
}

/**
 * The daemon of the container mode replaces one of the same name among the template's containers, as in the chart of
 * actions-runner-controller. Merged, the two could disagree about the socket. `initContainers` is where to change ours.
 */
const isReplacedDaemon = (name: string, { containerMode }: PodSettings): boolean => name === DAEMON_CONTAINER && containerMode === 'dind';

/** A template that names an account, or runs jobs in pods of their own, works with the cluster: there Kubernetes' own default holds. */
function needsAccount(spec: Readonly<Record<string, unknown>>, runner: PodTemplateContainer | undefined): boolean {
  const isNamed = [spec['serviceAccountName'], spec['serviceAccount']].some((name) => typeof name === 'string' && name !== '');
  return isNamed || (runner?.env ?? []).some(({ name }) => name === HOOKS_VARIABLE);
}

function additionsOf({ image, containerMode = 'none', proxy, caBundle }: PodSettings): Additions {
  const env = proxy === undefined ? [] : proxyVariables(proxy);
  const ca = caBundle === undefined ? {} : caAdditions(caBundle);
  const dind: Additions =
    containerMode === 'dind'
      ? dindAdditions({ runnerImage: image, env, mounts: caBundle === undefined ? [] : [caMountOfDaemon(caBundle)] })
      : {};
  return {
    env: [...env, ...(ca.env ?? []), ...(dind.env ?? [])],
    mounts: [...(ca.mounts ?? []), ...(dind.mounts ?? [])],
    initContainers: dind.initContainers,
    volumes: [...(ca.volumes ?? []), ...(dind.volumes ?? [])],
  };
}

function runnerContainer(theirs: PodTemplateContainer | undefined, worker: RunnerPodSpec, { env = [], mounts = [] }: Additions): Container {
  const jitConfig = { name: JIT_CONFIG_VARIABLE, valueFrom: { secretKeyRef: { name: worker.name, key: JIT_CONFIG_KEY } } };
  // A runner that GitHub calls too old then ends with exit code 7 instead of 0, which tells an outdated image from a finished job.
  const deprecation = { name: 'ACTIONS_RUNNER_RETURN_VERSION_DEPRECATED_EXIT_CODE', value: '1' };
  // A container that starts again has no registration left: what the pod says of restarts holds for it.
  const { restartPolicy: _restart, restartPolicyRules: _rules, env: theirEnv, ...given } = theirs ?? { name: RUNNER_CONTAINER };
  const ours = { name: RUNNER_CONTAINER, ...commandOf(worker), env: [deprecation, ...env], volumeMounts: [...mounts] };
  const laid = layOver(ours, { ...given, env: theirEnv?.filter((variable) => variable.name !== JIT_CONFIG_VARIABLE) });
  return { ...laid, image: worker.image, env: [jitConfig, ...(laid.env ?? [])] };
}

/**
 * The official image starts nothing of its own. What a template says of its runner was written for the image that it runs: an ENTRYPOINT
 * there, and arguments to it, are left alone.
 */
function commandOf({ image, template }: PodSettings): { command?: string[] } {
  const theirs = templateRunner(template);
  const isLeftToImage = theirs !== undefined && (!isOfficialImage(image) || asList(theirs['args']).length > 0);
  return isLeftToImage ? {} : { command: [RUN_SCRIPT] };
}

/** The pod ends when its runner does, so whatever the template puts beside the runner is a native sidecar. */
const asSidecar = (container: PodTemplateContainer): PodTemplateContainer => ({ ...container, restartPolicy: 'Always' });

export interface RunnerSecretSpec extends WorkerIdentity {
  readonly name: string;
  readonly namespace: string;
  readonly jitConfig: string;
}

/**
 * The Secret that carries the JIT config from the registration to the pod. Immutable, for a JIT config is never exchanged, and so kubelets
 * need not watch it. Its owner is set later, when the pod's uid is known (C6).
 */
export function runnerSecret(worker: RunnerSecretSpec): AsSent<V1Secret> {
  const marks = marksOf(worker);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    immutable: true,
    metadata: { name: worker.name, namespace: worker.namespace, labels: marks.labels, annotations: marks.annotations },
    data: { [JIT_CONFIG_KEY]: Buffer.from(worker.jitConfig).toString('base64') },
  };
}
