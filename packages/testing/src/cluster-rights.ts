import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { type AdminApi, collectionOf } from './admin-api.ts';

const DEPLOYED = join(import.meta.dirname, '../../../deploy/kubernetes');

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: object;
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

/** The objects of a file in deploy/kubernetes. */
export async function deployedManifests(file: string): Promise<Manifest[]> {
  const text = await readFile(join(DEPLOYED, file), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

/** Creates a file's objects in a namespace, as `kubectl create` would. */
export async function deploy(admin: AdminApi, file: string, namespace: string): Promise<void> {
  for (const manifest of await deployedManifests(file))
    await admin('POST', collectionOf({ ...manifest, metadata: { namespace } }), manifest);
}

/**
 * Creates the services' service accounts in a namespace `paddock`, with their rights in namespaces
 * of runners.
 */
export async function grantRights(admin: AdminApi, namespaces: readonly string[]): Promise<void> {
  await admin('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'paddock' },
  });
  await deploy(admin, 'service-accounts.yaml', 'paddock');
  for (const namespace of namespaces) await deploy(admin, 'runner-namespace.yaml', namespace);
}

/**
 * Writes a kubeconfig for a service's service account beside the administrator's, with a token as
 * in its pod; returns its path.
 */
export async function kubeconfigOf(
  admin: AdminApi,
  service: 'scheduler' | 'reconciler',
  adminsFile: string,
): Promise<string> {
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3600 },
  };
  const path = `/api/v1/namespaces/paddock/serviceaccounts/paddock-${service}/token`;
  const { status } = (await admin('POST', path, body)) as { status: { token: string } };
  const text = await readFile(adminsFile, 'utf8');
  const file = `${adminsFile}-${service}`;
  await writeFile(file, text.replace(/"token":"\w+"/, `"token":"${status.token}"`), {
    mode: 0o600,
  });
  return file;
}
