import { type Program, startProgram } from '@paddock/processes/start-program';
import { appProgram } from '@paddock/testing/processes';
import type { ChartContainer, ChartObject } from '@paddock/testing/render-chart';
import { waitFor } from '@paddock/testing/wait-for';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  type ChartCluster,
  endpointsOf,
  type LiveObject,
  podAddress,
} from './chart-cluster.scene.ts';

export type PlayedContainer = Awaited<ReturnType<typeof startContainer>>;

export interface Place {
  readonly cluster: ChartCluster;
  /** The address of the pod: a loopback address, so that each replica has its ports for itself. */
  readonly address: string;
  /** The names that the cluster's DNS knows, with their addresses. */
  readonly hosts?: Readonly<Record<string, string>> | undefined;
}

const APPS = join(import.meta.dirname, '../../../apps');
const CONTAINER_ROOT = new URL('container-root.mjs', import.meta.url).href;

/** What an image starts: the program of its last name. */
function entryPointOf({ image }: ChartContainer): string {
  const app = /\/(\w+)[:@][^/]*$/.exec(image)?.[1] ?? image;
  // The migrator finds its SQL beside its source.
  return app === 'migrate' ? join(APPS, app, 'src/main.ts') : appProgram(app);
}

/** A program in the images' working folder, where our sources have it. */
const sourceOf = (path: string): string => {
  const [, app] = /^apps\/(\w+)\/dist\/main\.mjs$/.exec(path) ?? [];
  return app === undefined ? path : join(APPS, app, 'src/main.ts');
};

/** The environment of a pod's container; its files are below `root` until they are removed. */
async function furnish({ cluster, address, hosts = {} }: Place, pod: PlayedPod) {
  const root = await mkdtemp(join(tmpdir(), 'paddock-container-'));
  const { hostname, port } = new URL(cluster.real.url);
  try {
    const own = await environmentOf(cluster, pod);
    await writeMounts(cluster, pod, root);
    const env = {
      // From the image.
      NODE_USE_ENV_PROXY: '1',
      // From the kubelet.
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
      ...own,
      // In a container all addresses are the pod's alone.
      PADDOCK_HTTP_HOST: address,
      NODE_OPTIONS: `--import=${CONTAINER_ROOT}`,
      CONTAINER_ROOT: root,
      CONTAINER_HOSTS: JSON.stringify(hosts),
    };
    return {
      env,
      refresh: () => writeMounts(cluster, pod, root),
      remove: () => rm(root, { recursive: true }),
    };
  } catch (error) {
    await rm(root, { recursive: true });
    throw error;
  }
}

/**
 * Starts a service's container. Resolves once it listens at each port of the container; rejects
 * with the reason if it cannot start.
 */
export async function startContainer(place: Place, pod: PlayedPod) {
  const [container] = pod.spec.containers;
  const { env, refresh, remove } = await furnish(place, pod);
  let program: Program;
  try {
    const args = [...(container.command ?? []), ...(container.args ?? [])];
    program = await startProgram({ program: entryPointOf(container), args, env });
  } catch (error) {
    await remove();
    throw error;
  }
  /**
   * Ends it as the kubelet does, and removes its files. Resolves with how the program ended. A
   * `preStop` hook goes on until `isForgotten`: it is there to outlast the cluster's controllers,
   * and on a busy machine these may be late.
   */
  const end = async (isForgotten = () => Promise.resolve(true)) => {
    const graceMs = pod.spec.terminationGracePeriodSeconds * 1_000;
    const grace = setTimeout(() => program.kill('SIGKILL'), graceMs);
    const before = container.lifecycle?.preStop?.exec.command;
    if (before !== undefined) {
      await runCommand(before, env);
      await waitFor(`no Service to lead to ${pod.metadata.name}`, isForgotten);
    }
    program.kill('SIGTERM');
    const ended = await program.exited;
    clearTimeout(grace);
    await remove();
    return ended;
  };
  try {
    for (const { name, containerPort } of container.ports ?? [])
      if (!(await accepts(place.address, containerPort)))
        throw new Error(`${container.name} does not listen at its port ${name}, ${containerPort}`);
    await waitFor(`${container.name} to be alive`, () =>
      isGood(container, 'livenessProbe', place.address),
    );
  } catch (error) {
    await end();
    throw error;
  }
  return {
    pod,
    address: place.address,
    program,
    /** Brings changed ConfigMaps and Secrets into it, as the kubelet does. */
    refresh,
    /** Runs a command of its image in it, as `kubectl exec` does. */
    exec: (command: readonly string[]) => runCommand(command.map(sourceOf), env),
    /** Resolves when the readiness probe succeeds; rejects with the reason if it never can. */
    untilReady: () =>
      waitFor(`${pod.metadata.name} to be ready`, () =>
        isGood(container, 'readinessProbe', place.address),
      ),
    end,
  };
}

/** Runs a container that ends by itself; resolves with its exit code and output. */
export async function runContainer(place: Place, pod: PlayedPod): Promise<Output> {
  const [container] = pod.spec.containers;
  const { env, remove } = await furnish(place, pod);
  const command = [...(container.command ?? []), ...(container.args ?? [])];
  try {
    return await runCommand(
      command.length === 0 ? ['node', entryPointOf(container)] : command,
      env,
    );
  } finally {
    await remove();
  }
}

interface Output {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a command of an image. Every image has Node.js and no other program. */
async function runCommand(
  [program, ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Output> {
  if (program !== 'node') throw new Error(`${program} is in no image`);
  const running = spawn(process.execPath, args, { env, timeout: 120_000 });
  const [stdout, stderr] = [textOf(running.stdout), textOf(running.stderr)];
  const [code] = (await once(running, 'exit')) as [number | null];
  return { code, output: `${await stdout}${await stderr}` };
}

const accepts = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port }, () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

/** Whether a rendered probe succeeds. Rejects if its port or path is not the service's. */
async function isGood(
  container: ChartContainer,
  kind: 'livenessProbe' | 'readinessProbe',
  address: string,
): Promise<boolean> {
  const httpGet = container[kind]?.httpGet;
  if (httpGet === undefined) throw new Error(`${container.name} has no ${kind}`);
  const port =
    typeof httpGet.port === 'number'
      ? httpGet.port
      : container.ports?.find(({ name }) => name === httpGet.port)?.containerPort;
  // A refused connection fails a probe, as it does the kubelet's.
  const answer = await fetch(`http://${address}:${port}${httpGet.path}`).catch(() => undefined);
  if (answer === undefined) return false;
  const said = await answer.text();
  if (answer.status !== 200 && answer.status !== 503)
    throw new Error(`the ${kind} of ${container.name} is answered ${answer.status}: ${said}`);
  return answer.status === 200;
}

/** What the chart mounts; the projected sources are those of a service account. */
interface Source {
  readonly secret?: {
    readonly secretName: string;
    readonly optional?: boolean;
    readonly items?: readonly { readonly key: string; readonly path: string }[];
  };
  readonly configMap?: { readonly name: string };
  readonly serviceAccountToken?: { readonly path: string; readonly expirationSeconds: number };
  readonly downwardAPI?: { readonly items: readonly { readonly path: string }[] };
}

/** A pod as the API server keeps it: defaults and admission have been at it. */
export interface PlayedPod extends LiveObject {
  readonly metadata: LiveObject['metadata'] & { readonly deletionTimestamp?: string };
  readonly spec: {
    readonly serviceAccountName: string;
    readonly terminationGracePeriodSeconds: number;
    readonly containers: readonly [ChartContainer];
    readonly volumes?: readonly (Source & {
      readonly name: string;
      readonly projected?: { readonly sources: readonly Source[] };
    })[];
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
async function environmentOf(cluster: ChartCluster, pod: PlayedPod): Promise<Texts> {
  const found: Record<string, string> = {};
  for (const { name, value = '', valueFrom } of pod.spec.containers[0].env ?? []) {
    found[name] = value;
    if (valueFrom === undefined) continue;
    const { name: secret, key } = valueFrom.secretKeyRef;
    const text = (await dataOf(cluster, 'Secret', pod.metadata.namespace, secret))[key];
    if (text === undefined) throw new Error(`couldn't find key ${key} in Secret ${secret}`);
    found[name] = text;
  }
  return found;
}

/**
 * Writes what a pod's container finds at its mount paths below a folder that stands for `/`.
 */
async function writeMounts(cluster: ChartCluster, pod: PlayedPod, root: string): Promise<void> {
  for (const { name, mountPath, subPath } of pod.spec.containers[0].volumeMounts ?? []) {
    if (subPath !== undefined) throw new Error(`${name} is mounted by subPath: it never changes.`);
    const volume = pod.spec.volumes?.find((one) => one.name === name);
    if (volume === undefined) throw new Error(`The pod has no volume ${name}.`);
    await mkdir(join(root, mountPath), { recursive: true });
    for (const source of volume.projected?.sources ?? [volume]) {
      for (const [path, text] of Object.entries(await filesOf(cluster, pod, source))) {
        const file = join(root, mountPath, path);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, text, { mode: 0o600 });
      }
    }
  }
}

async function filesOf(cluster: ChartCluster, pod: PlayedPod, source: Source): Promise<Texts> {
  const { namespace } = pod.metadata;
  const { secret, configMap, serviceAccountToken, downwardAPI } = source;
  if (serviceAccountToken !== undefined) {
    const { path, expirationSeconds } = serviceAccountToken;
    return { [path]: await cluster.requestToken(pod, expirationSeconds) };
  }
  if (downwardAPI !== undefined)
    return Object.fromEntries(downwardAPI.items.map(({ path }) => [path, namespace]));
  if (secret !== undefined) {
    const { secretName, items, optional = false } = secret;
    const data = await dataOf(cluster, 'Secret', namespace, secretName);
    if (items === undefined) return data;
    const texts = items.map(({ key, path }) => {
      const text = data[key];
      if (text === undefined && !optional)
        throw new Error(`references non-existent secret key: ${key}`);
      return text === undefined ? [] : [[path, text] as const];
    });
    return Object.fromEntries(texts.flat());
  }
  return configMap === undefined ? {} : dataOf(cluster, 'ConfigMap', namespace, configMap.name);
}

interface KubeletOptions {
  readonly cluster: ChartCluster;
  readonly namespace: string;
  /** The first address that it may give to a pod. */
  readonly addressOf: (number: number) => string;
  /** What must no longer lead to a pod before its `preStop` hook ends. */
  readonly service?: ChartObject;
}

/** Says that a pod is ready at a loopback address. */
async function markReady(cluster: ChartCluster, pod: PlayedPod, address: string): Promise<void> {
  const podIP = podAddress(address);
  const conditions = [{ type: 'Ready', status: 'True' }];
  const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions };
  await cluster.patch(pod, { status }, '/status');
}

const PODS = 'app.kubernetes.io/component in (ingress,scheduler,reconciler,console)';

export type Kubelet = ReturnType<typeof createKubelet>;

/** Runs the services' pods that the cluster's controllers make, until they delete them. */
export function createKubelet({ cluster, namespace, addressOf, service }: KubeletOptions) {
  const starting = new Map<string, Promise<unknown>>();
  const running = new Map<string, PlayedContainer>();
  const ends: Awaited<ReturnType<PlayedContainer['end']>>[] = [];
  const failures: unknown[] = [];
  let last = 0;
  const start = async (pod: PlayedPod): Promise<void> => {
    last += 1;
    const address = addressOf(last);
    const container = await startContainer({ cluster, address }, pod);
    running.set(pod.metadata.uid, container);
    await container.untilReady();
    await markReady(cluster, pod, address);
  };
  const end = async (
    uid: string,
    container: PlayedContainer,
    isForgotten?: () => Promise<boolean>,
  ): Promise<void> => {
    running.delete(uid);
    ends.push(await container.end(isForgotten));
  };
  /** Ends a deleted pod's container. */
  const endDeleted = (uid: string, container: PlayedContainer): Promise<void> =>
    end(uid, container, async () => {
      const led = service === undefined ? [] : await endpointsOf(cluster, service);
      return !led.some(({ host }) => host === container.address);
    });
  const watched = (work: Promise<unknown>): Promise<unknown> =>
    work.catch((error: unknown) => failures.push(error));
  return {
    /** Starts new pods and ends deleted ones; rejects if one could not start. */
    async look(): Promise<void> {
      const pods = (await cluster.list('Pod', namespace, PODS)) as unknown as PlayedPod[];
      const wanted = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      for (const pod of wanted)
        if (!starting.has(pod.metadata.uid)) starting.set(pod.metadata.uid, watched(start(pod)));
      const uids = new Set(wanted.map(({ metadata }) => metadata.uid));
      for (const [uid, container] of running) {
        if (!uids.has(uid)) starting.set(`the end of ${uid}`, watched(endDeleted(uid, container)));
      }
      if (failures.length > 0) throw new AggregateError(failures, failures.join('\n'));
    },
    /** Those that have become ready and have not been ended. */
    running: () => [...running.values()],
    /** How the ended ones ended. */
    ends,
    async endAll(): Promise<void> {
      await Promise.all(starting.values());
      await Promise.all([...running].map(([uid, container]) => end(uid, container)));
    },
  };
}
