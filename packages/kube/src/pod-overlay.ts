import type { V1Container, V1EnvVar, V1Volume, V1VolumeMount } from '@kubernetes/client-node';
import type { PodTemplateContainer } from '@paddock/domain/pools/pod-template';
import type { WireJson } from './core-api.ts';

export type Container = WireJson<V1Container>;
export type EnvVar = WireJson<V1EnvVar>;
export type Mount = WireJson<V1VolumeMount>;
export type Volume = WireJson<V1Volume>;

/** The parts of a pod that a pool's setting adds. */
export interface Additions {
  /** Variables of the runner's container. */
  readonly env: readonly EnvVar[];
  /** Mounts of the runner's container. */
  readonly mounts: readonly Mount[];
  readonly initContainers: readonly Container[];
  readonly volumes: readonly Volume[];
}

/** Puts a template's container over ours: its fields win, its variables and mounts are added. */
export function overlayContainer(
  ours: Container,
  { env, volumeMounts, ...fields }: Partial<PodTemplateContainer>,
): Container {
  return {
    ...ours,
    ...dropNulls(fields),
    env: mergeLists(ours.env, env, sameName),
    volumeMounts: mergeLists(ours.volumeMounts, volumeMounts, sameMount),
  };
}

/** Ours without those that theirs replaces, then theirs. */
export function mergeLists<T>(
  ours: readonly T[] | undefined,
  theirs: readonly T[] | null | undefined,
  isSame: (a: T, b: T) => boolean,
): T[] {
  const others = theirs ?? [];
  return [...(ours ?? []).filter((one) => !others.some((other) => isSame(one, other))), ...others];
}

/**
 * Merges containers by name: ours in our order, each with theirs put over it, then their others.
 */
export function mergeContainers(
  ours: readonly Container[],
  theirs: readonly PodTemplateContainer[],
): Container[] {
  const merged = ours.map((own) =>
    overlayContainer(own, theirs.find(({ name }) => name === own.name) ?? {}),
  );
  const others = theirs.filter(({ name }) => !ours.some((own) => own.name === name));
  return [...merged, ...others.map((other) => overlayContainer({ name: other.name }, other))];
}

export const sameName = (a: { name: string }, b: { name: string }): boolean => a.name === b.name;

/** A template may move one of our mounts. The API server refuses two mounts at one path. */
const sameMount = (a: Mount, b: Mount): boolean => sameName(a, b) || a.mountPath === b.mountPath;

/** In YAML a key without a value is null. It means the same as no key. */
export function dropNulls<T extends object>(given: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
