import { PatchStrategy, type V1Pod } from '@kubernetes/client-node';
import { describeIssues } from '@paddock/domain/deliveries/payload-fields';
import { podSays } from '@paddock/domain/workers/may-end';
import { z } from 'zod';
import { changedByAdmission } from './admission.ts';
import { callJson, objectPath } from './call.ts';
import type { Cluster } from './connect.ts';
import { coreApi, METADATA_ONLY, type WireJson } from './core-api.ts';
import { KubeError, unless } from './errors.ts';
import { instanceSelector, type JobOnPod, jobAnnotations } from './labels.ts';
import { observePod, type ObservedPod } from './observed-pod.ts';

export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

export interface CreatedPod {
  readonly outcome: 'created' | 'exists';
  readonly uid: string;
  /** The cluster's warnings: dropped fields, policies that only warn. */
  readonly warnings: readonly string[];
}

/**
 * Creates the pod, or finds an existing one of this name, as after a lost answer. With `dryRun` the
 * cluster only says whether it would. Throws KubeError: `forbidden` for quotas and admission
 * policies, `invalid` for a manifest that the cluster refuses. A pod in which a policy has changed
 * what must stay is refused, too: it is deleted again, unless its runner has begun meanwhile.
 */
export async function createPod(
  cluster: Cluster,
  pod: WireJson<V1Pod>,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<CreatedPod> {
  const name = { namespace: pod.metadata?.namespace ?? '', name: pod.metadata?.name ?? '' };
  try {
    let warnings: readonly string[] = [];
    const created = await callJson(cluster, {
      method: 'POST',
      path: objectPath(name.namespace, 'pods'),
      body: pod,
      query: { dryRun: dryRun ? 'All' : undefined, fieldValidation: 'Warn' },
      onWarnings: (said) => (warnings = said),
    });
    const made = readPod(created);
    const { uid = '', ...marks } = made.metadata ?? {};
    const changed = changedByAdmission(pod, made);
    if (changed === undefined) return { outcome: 'created', uid, warnings };
    if (!dryRun && !(await deleteUnbegun(cluster, made)))
      return { outcome: 'created', uid, warnings: [...warnings, keptAlthough(changed)] };
    const message = `The cluster changed the new pod ${name.namespace}/${name.name} by a webhook or a policy, so Paddock does not keep it: ${changed}${hintsOf(pod, marks, warnings)}. Exempt Paddock's pods from that.`;
    throw new KubeError({ kind: 'forbidden', status: 201, reason: 'Changed', message });
  } catch (error) {
    if (!(error instanceof KubeError) || error.failure.kind !== 'exists') throw error;
    const there = await findAskedPod(cluster, name, pod);
    // Deleted between the two calls: the caller's next attempt starts from the top.
    if (there === undefined) throw error;
    return { outcome: 'exists', ...there };
  }
}

/**
 * Deletes a pod that was just made. False: its runner has begun by now, as after an answer that came
 * late, and may have a job.
 */
async function deleteUnbegun(
  cluster: Cluster,
  made: WireJson<V1Pod>,
  tries = MOST_TRIES,
): Promise<boolean> {
  const pod = observePod(made);
  const { namespace, name, uid, resourceVersion } = pod;
  if (podSays(pod) === 'working') return false;
  const outcome = await deletePod(cluster, { namespace, name, uid, resourceVersion });
  const now = outcome === 'changed' ? await readIfThere(cluster, { namespace, name }) : undefined;
  if (now === undefined || now.metadata?.uid !== uid || tries <= 1) return true;
  return deleteUnbegun(cluster, now, tries - 1);
}

/** A node changes a pod a few times before it begins. The next attempt finds one that is left. */
const MOST_TRIES = 5;

const keptAlthough = (changed: string): string =>
  `A node has a pod that is not as its pool asks, so Paddock keeps it: ${changed}. If the pool has not changed since, a webhook or a policy did it: exempt Paddock's pods from that.`;

/** What may tell an operator which policy it was. */
function hintsOf(
  asked: WireJson<V1Pod>,
  { annotations = {} }: NonNullable<WireJson<V1Pod>['metadata']>,
  warnings: readonly string[],
): string {
  const added = Object.keys(annotations).filter(
    (key) => asked.metadata?.annotations?.[key] === undefined,
  );
  const left = added.length === 0 ? '' : `; it added the annotations ${added.join(', ')}`;
  return warnings.length === 0 ? left : `${left}; it said: ${warnings.join('; ')}`;
}

const readIfThere = async (cluster: Cluster, name: ObjectName) => {
  const path = objectPath(name.namespace, 'pods', name.name);
  const found = await unless('not_found', callJson(cluster, { method: 'GET', path }));
  return found === undefined ? undefined : readPod(found);
};

/** The pod, or undefined if there is none. */
export async function findPod(
  cluster: Cluster,
  { namespace, name }: ObjectName,
): Promise<ObservedPod | undefined> {
  const found = await readIfThere(cluster, { namespace, name });
  return found && observePod(found);
}

/**
 * The pod that an earlier call has made, or undefined if there is none. One that differs from `asked`
 * in what must stay is deleted, as `createPod` does, if it had no time to. Once a node has it, a
 * warning says so instead, since its runner may work there.
 */
export async function findAskedPod(
  cluster: Cluster,
  { namespace, name }: ObjectName,
  asked: WireJson<V1Pod> | undefined,
): Promise<Pick<CreatedPod, 'uid' | 'warnings'> | undefined> {
  const found = await readIfThere(cluster, { namespace, name });
  if (found === undefined) return undefined;
  const { uid, resourceVersion, nodeName } = observePod(found);
  const changed = asked && changedByAdmission(asked, found);
  if (changed === undefined) return { uid, warnings: [] };
  if (nodeName !== undefined) return { uid, warnings: [keptAlthough(changed)] };
  const outcome = await deletePod(cluster, { namespace, name, uid, resourceVersion });
  // A node may have it by now.
  return outcome === 'changed' ? findAskedPod(cluster, { namespace, name }, asked) : undefined;
}

export interface PodDeletion extends ObjectName {
  /** Delete this very pod, not a later one of the same name. */
  readonly uid?: string | undefined;
  /** Delete only if nothing changed since this version was read. */
  readonly resourceVersion?: string | undefined;
}

/**
 * Asks for the pod's end; it goes after its grace period. `changed`: a precondition failed, nothing
 * was done.
 */
export async function deletePod(
  cluster: Cluster,
  { namespace, name, uid, resourceVersion }: PodDeletion,
): Promise<'deleted' | 'absent' | 'changed'> {
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  try {
    await coreApi(cluster).deleteNamespacedPod({ namespace, name, body: { preconditions } });
    return 'deleted';
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.failure.kind === 'not_found') return 'absent';
    if (error.failure.kind === 'conflict') return 'changed';
    throw error;
  }
}

/** Writes on a pod, if it is there, which job it runs. Throws KubeError. */
export async function annotatePod(
  cluster: Cluster,
  { namespace, name }: ObjectName,
  job: JobOnPod,
): Promise<void> {
  const body = { metadata: { annotations: jobAnnotations(job) } };
  const api = coreApi(cluster, { accept: METADATA_ONLY, contentType: PatchStrategy.MergePatch });
  await unless('not_found', api.patchNamespacedPod({ namespace, name, body }));
}

const PAGE_SIZE = 500;

export interface PodSelection {
  readonly namespace: string;
  /** Only pods that this instance made. */
  readonly instance: string;
  readonly pageSize?: number | undefined;
}

/**
 * Lists all pods of the instance at one moment after the call began. The first page is a consistent
 * read, and the others have the same version; a watch continues from it. Each page is reduced on
 * arrival. Throws KubeError, `gone` if a page expired.
 */
export async function listPods(
  cluster: Cluster,
  selection: PodSelection,
  signal?: AbortSignal,
): Promise<{ readonly pods: ObservedPod[]; readonly resourceVersion: string }> {
  const pods: ObservedPod[] = [];
  const asked = new Set<string>();
  let next: string | undefined;
  for (;;) {
    const query = {
      labelSelector: instanceSelector(selection.instance),
      limit: selection.pageSize ?? PAGE_SIZE,
      continue: next,
    };
    const path = objectPath(selection.namespace, 'pods');
    const answer = await callJson(cluster, { method: 'GET', path, query, signal });
    const { data: page, error } = podList.safeParse(answer);
    const problem = error && describeIssues(error);
    const { resourceVersion = '', continue: rest = '' } = page?.metadata ?? {};
    if (page === undefined || asked.has(rest)) {
      const message = `The answer to a list of pods is not a PodList: ${problem ?? 'it goes in a circle'}`;
      throw new KubeError({ kind: 'unavailable', message });
    }
    for (const pod of page.items) pods.push(observePod(readPod(pod)));
    if (rest === '') return { pods, resourceVersion };
    asked.add(rest);
    next = rest;
  }
}

/** A list without its items must not read as a namespace without pods. */
const podList = z.looseObject({
  kind: z.literal('PodList').optional(),
  metadata: z.looseObject({ resourceVersion: z.string().min(1), continue: z.string().optional() }),
  items: z.array(z.unknown()),
});

const text = z.string().min(1);
const texts = z.record(z.string(), z.string()).optional();
const containers = z
  .array(z.looseObject({ name: text, state: z.looseObject({}).optional() }))
  .optional();

/** What every pod has, and the form of what we read. */
const podAnswer = z.looseObject({
  kind: z.literal('Pod').optional(),
  metadata: z.looseObject({
    name: text,
    uid: text,
    // A pod that was only tried has none.
    resourceVersion: z.string().optional(),
    labels: texts,
    annotations: texts,
  }),
  spec: z.looseObject({ containers: z.array(z.looseObject({ name: text })) }),
  status: z.looseObject({
    phase: text,
    // Anybody may add conditions, with any text.
    conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).optional(),
    containerStatuses: containers,
    initContainerStatuses: containers,
  }),
});

/**
 * Checks the form of an answer: what lacks a part of a pod must not read as a pod that is another, or
 * that has not started.
 */
export function readPod(value: unknown): WireJson<V1Pod> {
  const { error } = podAnswer.safeParse(value);
  if (error === undefined) return value as WireJson<V1Pod>;
  const message = `The answer to a call for a pod is not a Pod: ${describeIssues(error)}`;
  throw new KubeError({ kind: 'unavailable', message });
}
