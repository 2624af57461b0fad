import { PatchStrategy, type V1Secret } from '@kubernetes/client-node';
import type { Cluster } from './connect.ts';
import { coreApi, METADATA_ONLY } from './core-api.ts';
import { unless } from './errors.ts';
import { labelsAndAnnotations, type WorkerIdentity } from './labels.ts';
import type { ObjectName } from './pods.ts';

/** The Secret's key for the JIT config. */
export const JIT_CONFIG_KEY = 'jitconfig';

/**
 * Creates the Secret. With `dryRun` the cluster only says whether it would. Throws KubeError, whose
 * message never quotes the content.
 */
export async function createSecret(
  cluster: Cluster,
  secret: V1Secret,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<'created' | 'exists'> {
  const namespace = secret.metadata?.namespace ?? '';
  const api = coreApi(cluster, { accept: METADATA_ONLY, secretBody: true });
  const request = { namespace, body: secret, ...(dryRun ? { dryRun: 'All' } : {}) };
  return (await unless('exists', api.createNamespacedSecret(request))) ? 'created' : 'exists';
}

/** Whether the Secret exists. Does not read its content. */
export async function secretExists(
  cluster: Cluster,
  { namespace, name }: ObjectName,
): Promise<boolean> {
  const api = coreApi(cluster, { accept: METADATA_ONLY });
  return (await unless('not_found', api.readNamespacedSecret({ namespace, name }))) !== undefined;
}

export async function deleteSecret(
  cluster: Cluster,
  { namespace, name }: ObjectName,
): Promise<'deleted' | 'absent'> {
  const api = coreApi(cluster, { accept: METADATA_ONLY });
  return (await unless('not_found', api.deleteNamespacedSecret({ namespace, name })))
    ? 'deleted'
    : 'absent';
}

/** Makes the pod the Secret's owner, so that the cluster deletes the Secret with the pod. */
export async function setSecretOwner(
  cluster: Cluster,
  { namespace, name, podName, podUid }: ObjectName & { podName: string; podUid: string },
): Promise<'owned' | 'absent'> {
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: podName, uid: podUid }];
  const body = { metadata: { ownerReferences } };
  const api = coreApi(cluster, { accept: METADATA_ONLY, contentType: PatchStrategy.MergePatch });
  return (await unless('not_found', api.patchNamespacedSecret({ namespace, name, body })))
    ? 'owned'
    : 'absent';
}

/**
 * The Secret that carries the JIT config from the registration to the pod. A JIT config never
 * changes, so the Secret is immutable and kubelets need not watch it. Its owner is set once the pod
 * has a uid.
 */
export function runnerSecret(
  worker: WorkerIdentity & ObjectName & { readonly jitConfig: string },
): V1Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    immutable: true,
    metadata: {
      name: worker.name,
      namespace: worker.namespace,
      ...labelsAndAnnotations(worker),
    },
    data: { [JIT_CONFIG_KEY]: Buffer.from(worker.jitConfig).toString('base64') },
  };
}
