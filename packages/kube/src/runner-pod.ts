import type { V1Pod, V1Secret } from '@kubernetes/client-node';
import { type PodKeys, templateWithKeys } from '@paddock/domain/pools/pod-keys';
import { type PodTemplate, type PodTemplateContainer, RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';
import type { Pool } from '@paddock/domain/pools/pools-document';
import { type Additions, beside, type Container, layOver, mergeContainers, sameName, type Volume, withoutNulls } from './additions.ts';
import type { AsSent } from './as-sent.ts';
import { dindAdditions } from './dind.ts';
import { marksOf, type WorkerIdentity } from './labels.ts';
import { caAdditions, caMountOfDaemon, proxyVariables } from './outside.ts';

/** Where in the Secret the JIT config stands. */
export const JIT_CONFIG_KEY = 'jitconfig';
const JIT_CONFIG_VARIABLE = 'ACTIONS_RUNNER_INPUT_JITCONFIG';
const RUN_SCRIPT = '/home/runner/run.sh';

/**
 * GitHub lets a job on a self-hosted runner take 5 days, and forgets a runner that waits for one after a day: a shorter deadline would
 * kill a working runner (P2). The default leaves a day for the image and the clean-up.
 */
const SHORTEST_DEADLINE_SECONDS = 6.25 * 86_400;
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
  const sidecars = containers.filter((container) => container.name !== RUNNER_CONTAINER).map(asSidecar);
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
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...rest,
      // A JIT config works once.
      restartPolicy: 'Never',
      activeDeadlineSeconds: Math.max(typeof deadline === 'number' ? deadline : DEFAULT_DEADLINE_SECONDS, SHORTEST_DEADLINE_SECONDS),
      ...(init.length === 0 ? {} : { initContainers: init }),
      containers: [
        runnerContainer(
          containers.find(({ name }) => name === RUNNER_CONTAINER),
          worker,
          additions,
        ),
      ],
      ...(allVolumes.length === 0 ? {} : { volumes: allVolumes }),
    },
  };
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
  const ours = { name: RUNNER_CONTAINER, command: [RUN_SCRIPT], env: [deprecation, ...env], volumeMounts: [...mounts] };
  const laid = layOver(ours, { ...given, env: theirEnv?.filter((variable) => variable.name !== JIT_CONFIG_VARIABLE) });
  return { ...laid, image: worker.image, env: [jitConfig, ...(laid.env ?? [])] };
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
