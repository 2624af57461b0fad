import { count, withoutStop } from './reason-explanations.ts';

/** What went wrong with workers: how many, by one reason, with the words about it. */
interface WorkerTrouble {
  /** A reason of a failure or a stop, why a pod does not start, or `pod_refused`. */
  readonly reason: string;
  readonly message: string | null;
  readonly workers: number;
}

const IMAGE = 'See whether the image is there and its registry answers; look at imagePullSecrets.';
const TEMPLATE = 'See whether the Secrets, ConfigMaps and commands of the template are there.';
const CAPACITY = 'Add nodes, or ask for less: look at requests, nodeSelector and tolerations.';
const QUOTA = 'Raise the quota of the namespace, or mend what its policies refuse in the template.';
const NODE = 'Look at the node: its kubelet, its load, and whether spot nodes are taken away.';
const EVICTED = 'Request what jobs use, ephemeral-storage too; keep the autoscaler off busy pods.';
const MEMORY = 'Raise limits.memory of the pool, or have its jobs use less.';
const GITHUB = 'See whether runners reach GitHub: proxy, certificates, network policies.';
const LOG = 'Look at the end of the log of one of them.';

/** What follows `3 workers`, and what to do. */
const TROUBLES: Readonly<Record<string, readonly [said: string, advice: string]>> = {
  unschedulable: ['could not be scheduled', CAPACITY],
  pod_refused: ['could not be made', QUOTA],
  image_pull: ['could not pull an image', IMAGE],
  container_config: ['had a container that could not be made', TEMPLATE],
  crash_loop: ['had a container that ended again and again', LOG],
  slow_start: ['did not start, and nothing says why', NODE],
  pending_timeout: ['did not start in time', CAPACITY],
  terminating: ['did not go when deleted', NODE],
  evicted: ['met an eviction', EVICTED],
  node_lost: ['lost the node', NODE],
  node_refused: ['met a node that refused the pod', NODE],
  pod_gone: ['lost the pod', NODE],
  out_of_memory: ['ran out of memory', MEMORY],
  outdated_runner: ['had a runner that GitHub no longer serves', 'Give the pool a newer image.'],
  not_registered: ['did not come online at GitHub', GITHUB],
  offline: ['went offline at GitHub', GITHUB],
};

export function tellTrouble({ reason, message, workers }: WorkerTrouble) {
  const [said, advice] = TROUBLES[reason] ?? [`failed (${reason.replaceAll('_', ' ')})`, LOG];
  const words = message === null ? '' : `: ${withoutStop(message)}`;
  // A worker whose pod is refused tries again.
  const who = count(workers, reason === 'pod_refused' ? 'pod' : 'worker');
  return { sentence: `${who} ${said}${words}.`, advice };
}
