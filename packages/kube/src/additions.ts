import type { V1Container, V1EnvVar, V1Volume, V1VolumeMount } from '@kubernetes/client-node';
import type { PodTemplateContainer } from '@paddock/domain/pools/pod-template';
import type { AsSent } from './as-sent.ts';

export type Container = AsSent<V1Container>;
export type EnvVar = AsSent<V1EnvVar>;
export type Mount = AsSent<V1VolumeMount>;
export type Volume = AsSent<V1Volume>;

/** What a setting of a pool adds to its pods. */
export interface Additions {
  /** Of the runner's container, as its mounts are. */
  readonly env?: readonly EnvVar[] | undefined;
  readonly mounts?: readonly Mount[] | undefined;
  readonly initContainers?: readonly Container[] | undefined;
  readonly volumes?: readonly Volume[] | undefined;
}

/** A container of the template laid over one of ours: its fields win, its variables and mounts come beside ours. */
export function layOver(ours: Container, theirs: Partial<PodTemplateContainer>): Container {
  const { env: theirEnv, volumeMounts: theirMounts, ...fields } = theirs;
  const env = beside(ours.env, theirEnv, sameName);
  const mounts = beside(ours.volumeMounts, theirMounts, sameMount);
  const { env: _env, volumeMounts: _mounts, ...ourFields } = ours;
  return {
    ...ourFields,
    ...withoutNulls(fields),
    ...(env.length === 0 ? {} : { env }),
    ...(mounts.length === 0 ? {} : { volumeMounts: mounts }),
  };
}

/** Ours as far as theirs has none like it, then theirs as it is. */
export function beside<T>(ours: readonly T[] | undefined, theirs: readonly T[] | null | undefined, isSame: (a: T, b: T) => boolean): T[] {
  const others = theirs ?? [];
  return [...(ours ?? []).filter((one) => !others.some((other) => isSame(one, other))), ...others];
}

/** Containers of one name are one: ours, in our order and with theirs laid over, then the rest of theirs. */
export function mergeContainers(ours: readonly Container[], theirs: readonly PodTemplateContainer[]): Container[] {
  const merged = ours.map((own) => layOver(own, theirs.find(({ name }) => name === own.name) ?? {}));
  const others = theirs.filter(({ name }) => !ours.some((own) => own.name === name));
  return [...merged, ...others.map((other) => layOver({ name: other.name }, other))];
}

export const sameName = (a: { name: string }, b: { name: string }): boolean => a.name === b.name;

/** A template that mounts a volume of ours elsewhere means that place; two mounts of one place would be refused. */
const sameMount = (a: Mount, b: Mount): boolean => sameName(a, b) || a.mountPath === b.mountPath;

/** In YAML a key without a value is null; it means as much as no key. */
export function withoutNulls<T extends object>(given: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as { [K in keyof T]?: NonNullable<T[K]> };
}
