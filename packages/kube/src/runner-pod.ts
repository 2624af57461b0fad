import type { V1Container, V1EnvVar, V1Pod, V1PodSpec, V1Secret } from '@kubernetes/client-node';
import type { AsSent } from './as-sent.ts';
import { marksOf, type WorkerIdentity } from './labels.ts';

/** The container that runs the job, named as actions-runner-controller names it so that its templates fit. */
export const RUNNER_CONTAINER = 'runner';

/** Where in the Secret the JIT config stands. */
export const JIT_CONFIG_KEY = 'jitconfig';
const RUN_SCRIPT = '/home/runner/run.sh';

/**
 * GitHub lets a job on a self-hosted runner take 5 days, and a warm worker may wait 12 h for one: a shorter deadline would kill a working
 * runner (P2). The default leaves room for the image and the clean-up.
 */
const SHORTEST_DEADLINE_SECONDS = 5.5 * 86_400;
const DEFAULT_DEADLINE_SECONDS = 6 * 86_400;

export interface RunnerPodSpec extends WorkerIdentity {
  /** The name of worker, registration, Secret and pod alike. */
  readonly name: string;
  readonly namespace: string;
  readonly image: string;
  /** Metadata and PodSpec of the pool, as in actions-runner-controller. */
  readonly template?: RunnerPodTemplate | undefined;
  readonly activeDeadlineSeconds?: number | undefined;
}

export interface RunnerPodTemplate {
  readonly metadata?:
    | { readonly labels?: Record<string, string> | undefined; readonly annotations?: Record<string, string> | undefined }
    | undefined;
  readonly spec?: Record<string, unknown> | undefined;
}

/**
 * The pod of one worker. The template's fields are kept as they are, unknown ones included, except where they would break the runner:
 * ours are the name, the pool's image, `restartPolicy: Never` (a JIT config works once), the JIT config's variable, our labels and
 * annotations, and a deadline that no job can reach. The JIT config itself is nowhere in it: the container reads it from the Secret.
 */
export function runnerPod(worker: RunnerPodSpec): AsSent<V1Pod> {
  const template = readTemplateSpec(worker.template?.spec);
  const marks = marksOf(worker);
  const deadline = template.activeDeadlineSeconds ?? worker.activeDeadlineSeconds ?? DEFAULT_DEADLINE_SECONDS;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: worker.name,
      namespace: worker.namespace,
      labels: { ...worker.template?.metadata?.labels, ...marks.labels },
      annotations: {
        // A node that is emptied under a running job loses that job: nothing can move it.
        'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
        'karpenter.sh/do-not-disrupt': 'true',
        ...worker.template?.metadata?.annotations,
        ...marks.annotations,
      },
    },
    spec: {
      // Jobs run foreign code: no credentials of the cluster unless the template asks for them.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...template,
      restartPolicy: 'Never',
      activeDeadlineSeconds: Math.max(deadline, SHORTEST_DEADLINE_SECONDS),
      containers: withRunner(template.containers ?? [], worker),
    },
  };
}

function withRunner(containers: readonly AsSent<V1Container>[], worker: RunnerPodSpec): AsSent<V1Container>[] {
  const at = containers.findIndex((container) => container.name === RUNNER_CONTAINER);
  if (at === -1) return [runnerContainer({ name: RUNNER_CONTAINER }, worker), ...containers];
  return containers.map((container, index) => (index === at ? runnerContainer(container, worker) : container));
}

function runnerContainer(container: AsSent<V1Container>, worker: RunnerPodSpec): AsSent<V1Container> {
  return { command: [RUN_SCRIPT], ...container, image: worker.image, env: runnerEnv(container.env ?? [], worker.name) };
}

function runnerEnv(theirs: readonly AsSent<V1EnvVar>[], secretName: string): AsSent<V1EnvVar>[] {
  const jitConfig = { name: 'ACTIONS_RUNNER_INPUT_JITCONFIG', valueFrom: { secretKeyRef: { name: secretName, key: JIT_CONFIG_KEY } } };
  // A runner that GitHub calls too old then ends with exit code 7 instead of 0, which tells an outdated image from a finished job.
  const deprecation = { name: 'ACTIONS_RUNNER_RETURN_VERSION_DEPRECATED_EXIT_CODE', value: '1' };
  const kept = theirs.filter((variable) => variable.name !== jitConfig.name);
  return kept.some((variable) => variable.name === deprecation.name) ? [jitConfig, ...kept] : [jitConfig, deprecation, ...kept];
}

/** The cluster judges what is inside; only the parts that are read here must have the right form to be read. */
function readTemplateSpec(spec: Record<string, unknown> | undefined): Partial<AsSent<V1PodSpec>> {
  if (spec === undefined) return {};
  return { ...(spec as Partial<AsSent<V1PodSpec>>) };
}

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
