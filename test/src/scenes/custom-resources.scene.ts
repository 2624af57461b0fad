import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AdminApi } from '@paddock/testing/admin-api';
import { waitFor } from '@paddock/testing/wait-for';
import { parseAllDocuments } from 'yaml';

interface Definition {
  readonly metadata: { readonly name: string };
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Group, version and kind of what operators define and the chart or an example uses. */
const USED = [
  ['postgresql.cnpg.io', 'v1', 'Cluster'],
  ['external-secrets.io', 'v1', 'ExternalSecret'],
  ['monitoring.coreos.com', 'v1', 'PodMonitor'],
  ['gateway.networking.k8s.io', 'v1', 'HTTPRoute'],
] as const;

/**
 * Defines what operators define in a cluster: by their own definitions, the files of a
 * folder, else as objects with any fields.
 */
export async function defineCustomResources(admin: AdminApi, folder: string): Promise<void> {
  const given = operatorsOwn(folder);
  for (const [group, version, kind] of USED) {
    const plural = `${kind.toLowerCase()}s`;
    const name = `${plural}.${group}`;
    const definition =
      given.find(({ metadata }) => metadata.name === name) ??
      withAnyFields(name, { group, version, kind, plural });
    await admin('POST', DEFINITIONS, definition);
    await waitFor(`${name} in the API`, async () =>
      admin('GET', `/apis/${group}/${version}/${plural}`).then(
        () => true,
        () => false,
      ),
    );
  }
}

const operatorsOwn = (folder: string): Definition[] =>
  folder === ''
    ? []
    : globSync('*.yaml', { cwd: folder }).flatMap((file) =>
        parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map(
          (document) => document.toJS() as Definition,
        ),
      );

const withAnyFields = (
  name: string,
  { group, version, kind, plural }: Record<'group' | 'version' | 'kind' | 'plural', string>,
): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name,
    // The API server wants it for groups of Kubernetes itself.
    annotations: { 'api-approved.kubernetes.io': 'https://example.com/for-tests' },
  },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
});
