import type { ChartObject } from '@paddock/testing/render-chart';

/** The kinds of the chart in the order in which Argo CD applies them. All others come after. */
const KINDS = [
  'NetworkPolicy',
  'PodDisruptionBudget',
  'ServiceAccount',
  'Secret',
  'ConfigMap',
  'Role',
  'RoleBinding',
  'Service',
  'Deployment',
  'HorizontalPodAutoscaler',
  'StatefulSet',
  'Job',
  'Ingress',
];

const isHook = ({ metadata }: ChartObject): boolean =>
  metadata.annotations?.['helm.sh/hook'] !== undefined;

/**
 * What Argo CD applies, in its order: hooks that come before an installation, then by kind and name.
 * It never applies a hook of `helm test`. Within a sync it waits for hooks alone.
 */
export const inArgoOrder = (objects: readonly ChartObject[]): ChartObject[] =>
  objects
    .filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] !== 'test')
    .toSorted(
      (a, b) =>
        Number(isHook(b)) - Number(isHook(a)) ||
        rankOf(a) - rankOf(b) ||
        (a.metadata.name < b.metadata.name ? -1 : 1),
    );

const rankOf = ({ kind }: ChartObject): number =>
  KINDS.includes(kind) ? KINDS.indexOf(kind) : KINDS.length;

/**
 * Where an object of the cluster is not as it was rendered, as Argo CD compares them: fields that
 * the cluster adds are no difference.
 */
export function differences(rendered: unknown, live: unknown, place = ''): string[] {
  if (typeof rendered !== 'object' || rendered === null)
    return rendered === live || (rendered === null && live === undefined)
      ? []
      : [`${place}: ${JSON.stringify(rendered)}, and ${JSON.stringify(live)} in the cluster`];
  if (Array.isArray(rendered) && (live as unknown[] | undefined)?.length !== rendered.length)
    return [`${place}: ${rendered.length} items, and ${JSON.stringify(live)} in the cluster`];
  return Object.entries(rendered).flatMap(([key, value]) =>
    differences(value, (live as Record<string, unknown> | undefined)?.[key], `${place}/${key}`),
  );
}
