import type { ApiCall } from './api-call.ts';
import { type ApiObject, asPod } from './api-object.ts';
import type { ObjectStore } from './object-store.ts';
import { DIED, type RunnerStrike } from './runner-faults.ts';
import { isEnded } from './serve-object.ts';

export type KubeReport = ReturnType<ReturnType<typeof createKubeReport>['read']>;

export type Strike = RunnerStrike | 'call_failed';

/** Pods with the same values of these labels form one group. */
export type CountBy = readonly (readonly string[])[];

/** Keeps the figures that the objects do not contain. */
export function createKubeReport(
  store: ObjectStore,
  openWatches: () => number,
  countBy: CountBy = [],
) {
  const creations: { readonly name: string; readonly createdAt: string }[] = [];
  const calls: Record<string, number> = {};
  const active = new Map<string, readonly string[]>();
  const sizes: Record<string, number> = {};
  const mostActivePodsBy: Record<string, number> = {};
  const died = new Set<string>();
  const struck: Partial<Record<Strike, number>> = {};
  let mostActivePods = 0;
  store.subscribe(({ type, resource, object }) => {
    if (resource !== 'pods') return;
    const { uid, name } = object.metadata;
    if (type === 'ADDED') creations.push({ name, createdAt: new Date().toISOString() });
    const { containerStatuses = [] } = asPod(object).status;
    if (containerStatuses.some(({ state }) => state.terminated?.exitCode === DIED)) died.add(name);
    for (const group of active.get(uid) ?? []) sizes[group] = (sizes[group] ?? 0) - 1;
    if (type === 'DELETED' || isEnded(object)) active.delete(uid);
    else active.set(uid, groupsOf(object, countBy));
    mostActivePods = Math.max(mostActivePods, active.size);
    for (const group of active.get(uid) ?? []) {
      const size = (sizes[group] ?? 0) + 1;
      sizes[group] = size;
      mostActivePodsBy[group] = Math.max(mostActivePodsBy[group] ?? 0, size);
    }
  });
  return {
    count({
      verb,
      resource,
      subresource,
    }: Pick<ApiCall, 'verb' | 'subresource'> & { readonly resource: string }): void {
      const key = `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
      calls[key] = (calls[key] ?? 0) + 1;
    },
    strike(what: Strike): void {
      struck[what] = (struck[what] ?? 0) + 1;
    },
    read() {
      const pods = Object.groupBy(store.list('pods'), (pod) => asPod(pod).status.phase);
      return {
        podsByPhase: Object.fromEntries(
          Object.entries(pods).map(([phase, of = []]): [string, number] => [phase, of.length]),
        ),
        /** Of all pods ever made; with milliseconds, which the pods' own timestamps lack. */
        creations: [...creations],
        /** The most pods that existed and had not ended at one moment. */
        mostActivePods,
        /**
         * The same per group of pods. The pods of a group share the values of the labels that the
         * options name: `LABEL=VALUE,LABEL=VALUE`.
         */
        mostActivePodsBy: { ...mostActivePodsBy },
        /** Names of the pods whose runner a fault killed. */
        died: [...died],
        secretsLeft: store
          .list('secrets')
          .map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`),
        /** Such as `create pods` or `patch secrets`. */
        calls: { ...calls },
        openWatches: openWatches(),
        /** How often each fault has struck. */
        struck: { ...struck },
      };
    },
  };
}

const groupsOf = ({ metadata: { labels = {} } }: ApiObject, countBy: CountBy): string[] =>
  countBy.map((names) => names.map((name) => `${name}=${labels[name] ?? ''}`).join(','));
