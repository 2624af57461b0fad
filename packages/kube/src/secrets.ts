import type { V1Secret } from '@kubernetes/client-node';
import type { AsSent } from './as-sent.ts';
import { callJson, objectPath } from './call.ts';
import type { Cluster } from './connect.ts';
import { KubeError } from './errors.ts';
import type { ObjectName } from './pods.ts';

/**
 * Creates the Secret; with `dryRun` the cluster only says whether it would. Throws KubeError, whose message never holds what the cluster said
 * about the content.
 */
export async function createSecret(
  cluster: Cluster,
  secret: AsSent<V1Secret>,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<'created' | 'exists'> {
  const path = objectPath(secret.metadata?.namespace ?? '', 'secrets');
  const query = { dryRun: dryRun ? 'All' : undefined };
  try {
    await callJson(cluster, { method: 'POST', path, query, body: secret, secretBody: true, accept: METADATA_ONLY });
    return 'created';
  } catch (error) {
    if (error instanceof KubeError && error.failure.kind === 'exists') return 'exists';
    throw error;
  }
}

/** Whether the Secret is there. Its content is not read. */
export async function secretExists(cluster: Cluster, { namespace, name }: ObjectName): Promise<boolean> {
  const path = objectPath(namespace, 'secrets', name);
  return present(callJson(cluster, { method: 'GET', path, accept: METADATA_ONLY }));
}

export async function deleteSecret(cluster: Cluster, { namespace, name }: ObjectName): Promise<'deleted' | 'absent'> {
  const path = objectPath(namespace, 'secrets', name);
  return (await present(callJson(cluster, { method: 'DELETE', path, accept: METADATA_ONLY }))) ? 'deleted' : 'absent';
}

export interface SecretOwner extends ObjectName {
  readonly podName: string;
  readonly podUid: string;
}

/** Makes the pod the Secret's owner, so that the cluster removes the Secret when the pod is gone, whatever becomes of us. */
export async function setSecretOwner(cluster: Cluster, owner: SecretOwner): Promise<'owned' | 'absent'> {
  const path = objectPath(owner.namespace, 'secrets', owner.name);
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: owner.podName, uid: owner.podUid }];
  const body = { metadata: { ownerReferences } };
  const contentType = 'application/merge-patch+json';
  const patched = callJson(cluster, { method: 'PATCH', path, body, contentType, accept: METADATA_ONLY });
  return (await present(patched)) ? 'owned' : 'absent';
}

/** Asks the API server to leave the content out of its answer, so that it never enters this process again. */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

async function present(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof KubeError && error.failure.kind === 'not_found') return false;
    throw error;
  }
}
