import type { V1Secret } from '@kubernetes/client-node';
import type { WireJson } from './wire-json.ts';
import { callJson, objectPath } from './call.ts';
import type { Cluster } from './connect.ts';
import { KubeError } from './errors.ts';
import type { ObjectName } from './pods.ts';

/**
 * Creates the Secret. With `dryRun` the cluster only says whether it would. Throws KubeError, whose
 * message never quotes the content.
 */
export async function createSecret(
  cluster: Cluster,
  secret: WireJson<V1Secret>,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<'created' | 'exists'> {
  const path = objectPath(secret.metadata?.namespace ?? '', 'secrets');
  const query = { dryRun: dryRun ? 'All' : undefined };
  try {
    await callJson(cluster, {
      method: 'POST',
      path,
      query,
      body: secret,
      secretBody: true,
      accept: METADATA_ONLY,
    });
    return 'created';
  } catch (error) {
    if (error instanceof KubeError && error.failure.kind === 'exists') return 'exists';
    throw error;
  }
}

/** Whether the Secret exists. Does not read its content. */
export async function secretExists(
  cluster: Cluster,
  { namespace, name }: ObjectName,
): Promise<boolean> {
  const path = objectPath(namespace, 'secrets', name);
  return present(callJson(cluster, { method: 'GET', path, accept: METADATA_ONLY }));
}

export async function deleteSecret(
  cluster: Cluster,
  { namespace, name }: ObjectName,
): Promise<'deleted' | 'absent'> {
  const path = objectPath(namespace, 'secrets', name);
  return (await present(callJson(cluster, { method: 'DELETE', path, accept: METADATA_ONLY })))
    ? 'deleted'
    : 'absent';
}

export interface SecretOwner extends ObjectName {
  readonly podName: string;
  readonly podUid: string;
}

/** Makes the pod the Secret's owner, so that the cluster deletes the Secret with the pod. */
export async function setSecretOwner(
  cluster: Cluster,
  owner: SecretOwner,
): Promise<'owned' | 'absent'> {
  const path = objectPath(owner.namespace, 'secrets', owner.name);
  const ownerReferences = [
    { apiVersion: 'v1', kind: 'Pod', name: owner.podName, uid: owner.podUid },
  ];
  const body = { metadata: { ownerReferences } };
  const contentType = 'application/merge-patch+json';
  const patched = callJson(cluster, {
    method: 'PATCH',
    path,
    body,
    contentType,
    accept: METADATA_ONLY,
  });
  return (await present(patched)) ? 'owned' : 'absent';
}

/** Asks for an answer without the content, so that it does not enter this process again. */
const METADATA_ONLY =
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

async function present(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof KubeError && error.failure.kind === 'not_found') return false;
    throw error;
  }
}
