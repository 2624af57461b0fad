import { asList, asRecord } from '@paddock/domain/pools/as-record';
import { callJson, objectPath } from './call.ts';
import type { Cluster } from './connect.ts';
import { METADATA_ONLY } from './core-api.ts';
import { unless } from './errors.ts';
import { NOT_OURS } from './labels.ts';
import type { ObjectName } from './pods.ts';

/**
 * What runners make for a job by their container hooks, pods first of all. The hooks delete it at
 * the job's end, unless the runner is killed before.
 */
const RESOURCES = ['jobs.batch', 'pods', 'secrets', 'services'] as const;

/** The label on each of them, by GitHub's own hooks; its value is the name of the runner's pod. */
const LABEL = 'runner-pod';

const METADATA_LIST = METADATA_ONLY.replace('PartialObjectMetadata', '$&List');
/** No step is saved by a signal once its runner is gone, and most containers here ignore it. */
const GRACE_SECONDS = 1;
const PAGE_SIZE = 100;

/**
 * Deletes what an ended runner has left in its namespace. Returns how many objects. One that cannot
 * be deleted keeps no other; then it throws the first KubeError in the end.
 */
export async function deleteHookObjects(cluster: Cluster, runner: ObjectName): Promise<number> {
  const calls = RESOURCES.map((resource) => deleteAll(cluster, resource, runner));
  await Promise.allSettled(calls);
  return (await Promise.all(calls)).reduce((sum, count) => sum + count, 0);
}

async function deleteAll(
  cluster: Cluster,
  resource: (typeof RESOURCES)[number],
  { namespace, name: runner }: ObjectName,
): Promise<number> {
  const deletions: Promise<unknown>[] = [];
  let next: string | undefined;
  do {
    const query = {
      labelSelector: `${LABEL}=${runner},${NOT_OURS}`,
      limit: PAGE_SIZE,
      continue: next,
    };
    const path = objectPath(namespace, resource);
    const page = asRecord(
      await callJson(cluster, { method: 'GET', path, query, accept: METADATA_LIST }),
    );
    const found = asList(page['items']).map((item) => asRecord(asRecord(item)['metadata']));
    deletions.push(
      ...found.map(({ name, uid }) =>
        deleteOne(cluster, objectPath(namespace, resource, String(name)), uid),
      ),
    );
    await Promise.allSettled(deletions);
    const { continue: rest } = asRecord(page['metadata']);
    next = typeof rest === 'string' && rest !== '' ? rest : undefined;
  } while (next !== undefined);
  return (await Promise.all(deletions)).length;
}

/** Deletes this very object, with what it owns; a later one of its name stays. */
const deleteOne = (cluster: Cluster, path: string, uid: unknown): Promise<unknown> => {
  const body = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    gracePeriodSeconds: GRACE_SECONDS,
    propagationPolicy: 'Background',
    preconditions: { uid },
  };
  const call = callJson(cluster, { method: 'DELETE', path, body, accept: METADATA_ONLY });
  return unless('conflict', unless('not_found', call));
};
