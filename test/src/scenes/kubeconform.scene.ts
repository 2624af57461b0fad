import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AdminApi } from '@paddock/testing/admin-api';
import { type ChartObject, onPath } from '@paddock/testing/render-chart';

/** Path of kubeconform; undefined where there is none. */
export const KUBECONFORM = onPath('kubeconform');

interface Description {
  readonly components: {
    readonly schemas: Readonly<
      Record<
        string,
        { readonly 'x-kubernetes-group-version-kind'?: readonly Readonly<Record<string, string>>[] }
      >
    >;
  };
}

/** The built-in ones, by the path of their description. Operators define the others. */
const API_VERSIONS = {
  v1: 'api/v1',
  'apps/v1': 'apis/apps/v1',
  'autoscaling/v2': 'apis/autoscaling/v2',
  'batch/v1': 'apis/batch/v1',
  'networking.k8s.io/v1': 'apis/networking.k8s.io/v1',
  'policy/v1': 'apis/policy/v1',
  'rbac.authorization.k8s.io/v1': 'apis/rbac.authorization.k8s.io/v1',
};

/** An unknown field is an error, as under `kubectl apply`. */
const strictly = (description: Description): Description =>
  JSON.parse(JSON.stringify(description), (_key, value: unknown) =>
    value !== null && typeof value === 'object' && 'properties' in value && 'type' in value
      ? { additionalProperties: false, ...value }
      : value,
  ) as Description;

/**
 * Writes the schemas of the API server's own description for kubeconform, which elsewhere loads
 * them from GitHub.
 */
export async function writeSchemas(admin: AdminApi, folder: string): Promise<void> {
  mkdirSync(folder);
  for (const path of Object.values(API_VERSIONS)) {
    const { components } = strictly((await admin('GET', `/openapi/v3/${path}`)) as Description);
    for (const [name, schema] of Object.entries(components.schemas))
      for (const { group = '', version, kind } of schema['x-kubernetes-group-version-kind'] ?? []) {
        const file = [kind, group.split('.')[0], version].filter(Boolean).join('-').toLowerCase();
        const content = { $ref: `#/components/schemas/${name}`, components };
        writeFileSync(join(folder, `${file}.json`), JSON.stringify(content));
      }
  }
}

/** What kubeconform says of objects with the schemas of a folder. */
export function conform(folder: string, objects: readonly ChartObject[]): string {
  const location = join(folder, '{{.ResourceKind}}{{.KindSuffix}}.json');
  const { stdout, stderr } = spawnSync(
    KUBECONFORM ?? '',
    ['-strict', '-ignore-missing-schemas', '-summary', '-schema-location', location, '-'],
    { input: objects.map((object) => JSON.stringify(object)).join('\n---\n'), encoding: 'utf8' },
  );
  return `${stdout}${stderr}`;
}

export const isBuiltIn = ({ apiVersion }: ChartObject): boolean => apiVersion in API_VERSIONS;
