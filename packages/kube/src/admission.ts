import type { V1Pod } from '@kubernetes/client-node';
import { isDeepStrictEqual } from 'node:util';
import type { WireJson } from './core-api.ts';
import { marksOf } from './labels.ts';

type Pod = WireJson<V1Pod>;

/**
 * What the cluster's admission has changed in a new pod that must stay: else the pod is not
 * followed, runs something else or as somebody else, or ends under its job. Undefined: nothing.
 * What else a webhook adds or sets may be: sidecars, tolerations, annotations, variables, a mirror
 * of the image. Pure.
 */
export function changedByAdmission(asked: Pod, made: Pod): string | undefined {
  const [before, after] = [asked, made].map(({ metadata = {}, spec }) => ({
    'its name': [metadata.name, metadata.namespace],
    "Paddock's labels and annotations": marksOf(metadata),
    'its owners': metadata.ownerReferences ?? [],
    'the service account': spec?.serviceAccountName || spec?.serviceAccount || 'default',
    automountServiceAccountToken: spec?.automountServiceAccountToken,
    restartPolicy: spec?.restartPolicy,
    activeDeadlineSeconds: spec?.activeDeadlineSeconds,
  }));
  const changed = Object.entries(before ?? {}).filter(
    ([what, value]) =>
      value !== undefined && !isDeepStrictEqual(value, after?.[what as keyof typeof before]),
  );
  return (
    [...changed.map(([what]) => what), ...changedContainers(asked, made)].join(', ') || undefined
  );
}

const containersOf = ({ spec }: Pod) => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
];

function changedContainers(asked: Pod, made: Pod): string[] {
  const there = new Map(containersOf(made).map(({ name, image }) => [name, image]));
  return containersOf(asked).flatMap(({ name, image = '' }) => {
    if (!there.has(name)) return [`the container ${name}, which is missing`];
    const now = there.get(name) ?? '';
    return isSameImage(image, now) ? [] : [`the image of the container ${name}, now ${now}`];
  });
}

/** A registry's name before the path: it has a dot or a port. */
const REGISTRY = /^(?:localhost|[^/]*[.:][^/]*)\//;

const partsOf = (image: string) => {
  const [named = '', digest] = image.split('@');
  const [, path = '', tag] = /^(.*?)(?::([^:/]+))?$/.exec(named) ?? [];
  return { path: path.replace(REGISTRY, ''), tag, digest };
};

/**
 * A mirror keeps the end of the path, and the digest or the tag. A policy may add the digest that
 * it has verified to a tag.
 */
function isSameImage(asked: string, made: string): boolean {
  if (asked === made) return true;
  const [before, after] = [partsOf(asked), partsOf(made)];
  const isOfPath = `/${after.path}`.endsWith(`/${before.path}`);
  if (before.digest !== undefined) return isOfPath && after.digest === before.digest;
  const isOfTag = (after.tag ?? 'latest') === (before.tag ?? 'latest');
  return isOfPath && (isOfTag || (after.tag === undefined && after.digest !== undefined));
}
