import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ChartObject } from '@paddock/testing/render-chart';
import type { ChartCluster } from './chart-cluster.scene.ts';

interface Item {
  readonly key: string;
  readonly path: string;
}

interface Reference {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

interface Source {
  readonly secret?: {
    readonly secretName?: string;
    readonly name?: string;
    readonly items?: readonly Item[];
  };
  readonly configMap?: { readonly name: string; readonly items?: readonly Item[] };
  readonly serviceAccountToken?: { readonly path: string; readonly expirationSeconds: number };
  readonly downwardAPI?: { readonly items: readonly { readonly path: string }[] };
}

interface Volume extends Source {
  readonly name: string;
  readonly projected?: { readonly sources: readonly Source[] };
  readonly emptyDir?: object;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string | number };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: {
      readonly secretKeyRef?: Reference;
      readonly configMapKeyRef?: Reference;
    };
  }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly preStop?: { readonly exec: { readonly command: string[] } } };
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly subPath?: string;
  }[];
}

/** A pod as the API server keeps it: defaults and admission have been at it. */
export interface PlayedPod extends ChartObject {
  readonly metadata: ChartObject['metadata'] & {
    readonly namespace: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly serviceAccountName: string;
    readonly terminationGracePeriodSeconds: number;
    readonly containers: readonly [Container];
    readonly volumes?: readonly Volume[];
  };
}

type Texts = Readonly<Record<string, string>>;

/** What a ConfigMap or a Secret has, as text. Rejects if it is not there. */
async function dataOf(
  cluster: ChartCluster,
  kind: 'ConfigMap' | 'Secret',
  namespace: string,
  name: string,
): Promise<Texts> {
  const { data = {} } = (await cluster.read(kind, namespace, name)) as unknown as { data?: Texts };
  if (kind === 'ConfigMap') return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
}

/** The environment of a pod's container. Rejects, like the kubelet, if a key is not there. */
export async function environmentOf(cluster: ChartCluster, pod: PlayedPod): Promise<Texts> {
  const found: Record<string, string> = {};
  for (const { name, value = '', valueFrom } of pod.spec.containers[0].env ?? []) {
    const kind = valueFrom?.secretKeyRef === undefined ? 'ConfigMap' : 'Secret';
    const reference = valueFrom?.secretKeyRef ?? valueFrom?.configMapKeyRef;
    if (reference === undefined) found[name] = value;
    else {
      const texts = await dataOf(cluster, kind, pod.metadata.namespace, reference.name);
      const text = texts[reference.key];
      if (text === undefined)
        throw new Error(`couldn't find key ${reference.key} in ${kind} ${reference.name}`);
      found[name] = text;
    }
  }
  return found;
}

/**
 * Writes what a pod's container finds at its mount paths below a folder that stands for `/`. Tokens
 * are valid as long as the object that they are bound to is there.
 */
export async function writeMounts(
  cluster: ChartCluster,
  pod: PlayedPod,
  { root, boundTo = pod }: { root: string; boundTo?: ChartObject | undefined },
): Promise<void> {
  for (const { name, mountPath, subPath } of pod.spec.containers[0].volumeMounts ?? []) {
    if (subPath !== undefined) throw new Error(`${name} is mounted by subPath: it never changes.`);
    const volume = pod.spec.volumes?.find((one) => one.name === name);
    if (volume === undefined) throw new Error(`The pod has no volume ${name}.`);
    await mkdir(join(root, mountPath), { recursive: true });
    for (const source of volume.projected?.sources ?? [volume]) {
      for (const [path, text] of Object.entries(await filesOf(cluster, pod, source, boundTo))) {
        const file = join(root, mountPath, path);
        await mkdir(dirname(file), { recursive: true });
        // In one step, as the kubelet does.
        await writeFile(`${file}.new`, text, { mode: 0o600 });
        await rename(`${file}.new`, file);
      }
    }
  }
}

async function filesOf(
  cluster: ChartCluster,
  pod: PlayedPod,
  source: Source,
  boundTo: ChartObject,
): Promise<Texts> {
  const { namespace } = pod.metadata;
  const { secret, configMap, serviceAccountToken, downwardAPI } = source;
  if (serviceAccountToken !== undefined) {
    const { path, expirationSeconds } = serviceAccountToken;
    const account = { namespace, name: pod.spec.serviceAccountName };
    return { [path]: await cluster.requestToken(account, boundTo, expirationSeconds) };
  }
  if (downwardAPI !== undefined)
    return Object.fromEntries(downwardAPI.items.map(({ path }) => [path, namespace]));
  const kind = secret === undefined ? 'ConfigMap' : 'Secret';
  const name = secret?.secretName ?? secret?.name ?? configMap?.name;
  if (name === undefined) return {};
  const texts = await dataOf(cluster, kind, namespace, name);
  const items = secret?.items ?? configMap?.items;
  if (items === undefined) return texts;
  return Object.fromEntries(items.map(({ key, path }) => [path, texts[key] ?? '']));
}
