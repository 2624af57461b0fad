import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster, ClusterRequest } from '@paddock/kube/connect';
import { podEvents } from '@paddock/kube/events';
import { readJobInLog } from '@paddock/kube/job-begun';
import { readLogTail } from '@paddock/kube/logs';
import { podChanges } from '@paddock/kube/pod-changes';
import { createPod, deletePod, findPod, listPods, type ObjectName } from '@paddock/kube/pods';
import { runnerPod, runnerSecret } from '@paddock/kube/runner-pod';
import { readRefusedVersion, readRunnerVersion } from '@paddock/kube/runner-version';
import { createSecret, deleteSecret, secretExists, setSecretOwner } from '@paddock/kube/secrets';

const INSTANCE = 'rights';

const workerAt = ({ namespace, name }: ObjectName) => ({
  namespace,
  name,
  instance: INSTANCE,
  pool: 'linux',
  image: 'example.test/runner:1',
  entityId: 42,
  scopeRepoId: 0,
});

type Call = (cluster: Cluster, at: ObjectName) => Promise<unknown>;

/**
 * Each function of the kube package that calls the cluster, in an order in which all can be called
 * on one name. All throw if refused.
 */
export const CALLS: ReadonlyMap<string, Call> = new Map<string, Call>([
  [
    'createSecret',
    (cluster, at) => createSecret(cluster, runnerSecret({ ...workerAt(at), jitConfig: 'jit' })),
  ],
  ['secretExists', secretExists],
  // The second time it is there, and is looked at.
  [
    'createPod',
    async (cluster, at) => [
      await createPod(cluster, podAt(at)),
      await createPod(cluster, podAt(at)),
    ],
  ],
  ['findPod', findPod],
  [
    'setSecretOwner',
    (cluster, at) => setSecretOwner(cluster, { ...at, podName: at.name, podUid: 'a-uid' }),
  ],
  ['listPods', (cluster, { namespace }) => listPods(cluster, { namespace, instance: INSTANCE })],
  ['watchPods', watchOnce],
  ['readLogTail', readLog],
  ['readJobInLog', readJob],
  ['readRefusedVersion', (cluster, at) => readOfVersion(readRefusedVersion, cluster, at)],
  ['readRunnerVersion', (cluster, at) => readOfVersion(readRunnerVersion, cluster, at)],
  ['podEvents', podEvents],
  ['deletePod', deletePod],
  ['deleteSecret', deleteSecret],
]);

export const podAt = (at: ObjectName): Parameters<typeof createPod>[1] => runnerPod(workerAt(at));

/** A log that may not be read is a value, not an error. */
async function readLog(cluster: Cluster, at: ObjectName): Promise<void> {
  const read = await readLogTail(cluster, {
    ...at,
    container: 'runner',
    tailLines: 1,
    maxBytes: 100,
  });
  if (read.text === null) throw new Error(read.failure.message);
}

async function readJob(cluster: Cluster, at: ObjectName): Promise<void> {
  const read = await readJobInLog(cluster, at, new AbortController().signal);
  if (typeof read === 'object') throw new Error(read.unreadable.message);
}

async function readOfVersion(
  read: typeof readRefusedVersion | typeof readRunnerVersion,
  cluster: Cluster,
  at: ObjectName,
): Promise<void> {
  const version = await read(cluster, at, new AbortController().signal);
  if (typeof version === 'object') throw new Error(version.unreadable.message);
}

/** A follower's calls: a list, and a watch that the server ends after a second. */
async function watchOnce(cluster: Cluster, { namespace }: ObjectName): Promise<void> {
  const { resourceVersion } = await listPods(cluster, { namespace, instance: INSTANCE });
  const changes = podChanges(
    cluster,
    { namespace, instance: INSTANCE, resourceVersion, seconds: 1 },
    new AbortController().signal,
  );
  while ((await changes.next()).done !== true);
}

/** The values (not types) that a folder's own code imports from the kube package. */
export function kubeImportsOf(folder: string): Set<string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.(test|scene))\.ts$/.test(file),
  );
  const sources = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  const imports = sources.flatMap((source) =>
    Array.from(
      source.matchAll(/^import \{([^}]*)\} from '@paddock\/kube\//gms),
      ([, names]) => names,
    ),
  );
  const names = imports.flatMap((list = '') =>
    list.split(',').map((name) => name.trim().replace(/ as .*/, '')),
  );
  return new Set(names.filter((name) => name !== '' && !name.startsWith('type ')));
}

/** A cluster that records its calls, as `resource verb`. */
export function recording(cluster: Cluster): { cluster: Cluster; used: Set<string> } {
  const used = new Set<string>();
  return {
    used,
    cluster: {
      ...cluster,
      send: (request) => {
        used.add(verbOf(request));
        return cluster.send(request);
      },
    },
  };
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  PATCH: 'patch',
  DELETE: 'delete',
};

function verbOf({ method, path }: ClusterRequest): string {
  const url = new URL(path, 'http://cluster');
  const [resource, name, subresource] = url.pathname.split('/').slice(5);
  const whole = [resource, subresource].filter((part) => part !== undefined).join('/');
  if (method !== 'GET') return `${whole} ${VERBS[method] ?? method}`;
  if (url.searchParams.has('watch')) return `${whole} watch`;
  return `${whole} ${name === undefined ? 'list' : 'get'}`;
}
