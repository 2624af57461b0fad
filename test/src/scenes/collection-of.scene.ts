import type { ChartObject } from '@paddock/testing/render-chart';

/** The path of an object's collection in the API: of its namespace, if it is in one. */
export function collectionOf({ apiVersion, kind, metadata }: ChartObject): string {
  const plural = `${kind.toLowerCase()}s`.replace(/ys$/, 'ies').replace(/sss$/, 'sses');
  const group = `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}`;
  return metadata.namespace === undefined
    ? `${group}/${plural}`
    : `${group}/namespaces/${metadata.namespace}/${plural}`;
}
