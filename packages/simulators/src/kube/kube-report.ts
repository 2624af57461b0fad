import type { ApiCall } from './api-call.ts';
import { type ApiObject, asPod } from './api-object.ts';
import type { ObjectStore } from './object-store.ts';
import { DIED, type RunnerStrike } from './runner-faults.ts';
import { isEnded } from './serve-object.ts';

export interface PodCreation {
  readonly namespace: string;
  readonly name: string;
  /** With milliseconds, which the pod's own timestamps lack. */
  readonly createdAt: string;
  readonly runningAt?: string;
}

export interface KubeReport {
  readonly podsByPhase: Record<string, number>;
  readonly creations: readonly PodCreation[];
  /** The most pods that existed and had not ended at one moment. */
  readonly mostActivePods: number;
  /**
   * The same per group of pods. The pods of a group share the values of the labels that the options
   * name: `LABEL=VALUE,LABEL=VALUE`.
   */
  readonly mostActivePodsBy: Readonly<Record<string, number>>;
  /** Names of the pods whose runner a fault killed. */
  readonly died: readonly string[];
  readonly secretsLeft: readonly string[];
  /** Such as `create pods` or `patch secrets`. */
  readonly calls: Record<string, number>;
  readonly openWatches: number;
  /** How often each fault has struck. */
  readonly struck: Readonly<Partial<Record<Strike, number>>>;
}

export type Strike = RunnerStrike | 'call_failed';

/** Pods with the same values of these labels form one group. */
export type CountBy = readonly (readonly string[])[];

/** Keeps the figures that the objects do not contain. */
export function createKubeReport(
  store: ObjectStore,
  openWatches: () => number,
  countBy: CountBy = [],
) {
  const creations = new Map<string, PodCreation>();
  const calls: Record<string, number> = {};
  const active = new Map<string, readonly string[]>();
  const mostActivePodsBy: Record<string, number> = {};
  const died = new Set<string>();
  const struck: Partial<Record<Strike, number>> = {};
  let mostActivePods = 0;
  store.subscribe(({ type, resource, object }) => {
    if (resource !== 'pods') return;
    const { uid, name, namespace = '' } = object.metadata;
    const now = new Date().toISOString();
    const known = creations.get(uid);
    if (type === 'ADDED') creations.set(uid, { namespace, name, createdAt: now });
    else if (
      known !== undefined &&
      known.runningAt === undefined &&
      asPod(object).status.phase === 'Running'
    ) {
      creations.set(uid, { ...known, runningAt: now });
    }
    if (
      asPod(object).status.containerStatuses?.some(
        ({ state }) => state?.terminated?.exitCode === DIED,
      ) === true
    )
      died.add(name);
    if (type === 'DELETED' || isEnded(object)) active.delete(uid);
    else active.set(uid, groupsOf(object, countBy));
    mostActivePods = Math.max(mostActivePods, active.size);
    for (const group of active.get(uid) ?? []) {
      const size = [...active.values()].filter((groups) => groups.includes(group)).length;
      mostActivePodsBy[group] = Math.max(mostActivePodsBy[group] ?? 0, size);
    }
  });
  return {
    count({
      verb,
      resource,
      subresource,
    }: Pick<ApiCall, 'verb' | 'subresource'> & { readonly resource: string }): void {
      const key = [verb, subresource === undefined ? resource : `${resource}/${subresource}`].join(
        ' ',
      );
      calls[key] = (calls[key] ?? 0) + 1;
    },
    strike(what: Strike): void {
      struck[what] = (struck[what] ?? 0) + 1;
    },
    read(): KubeReport {
      const podsByPhase: Record<string, number> = {};
      for (const pod of store.list('pods')) {
        const { phase } = asPod(pod).status;
        podsByPhase[phase] = (podsByPhase[phase] ?? 0) + 1;
      }
      const secretsLeft = store
        .list('secrets')
        .map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`);
      return {
        podsByPhase,
        creations: [...creations.values()],
        mostActivePods,
        mostActivePodsBy: { ...mostActivePodsBy },
        died: [...died],
        secretsLeft,
        calls: { ...calls },
        openWatches: openWatches(),
        struck: { ...struck },
      };
    },
  };
}

const groupsOf = ({ metadata: { labels = {} } }: ApiObject, countBy: CountBy): string[] =>
  countBy.map((names) => names.map((name) => `${name}=${labels[name] ?? ''}`).join(','));
