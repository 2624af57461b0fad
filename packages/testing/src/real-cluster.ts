import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@paddock/embedded-postgres/free-port';
import { killWithParent } from '@paddock/processes/start-program';
import { startPlayedNodes } from './played-nodes.ts';
import { waitFor } from './wait-for.ts';

export type RealCluster = Awaited<ReturnType<typeof startRealCluster>>;

export interface RealClusterOptions {
  /** More flags of kube-apiserver. */
  readonly apiServerFlags?: Readonly<Record<string, string>> | undefined;
  /**
   * How many nodes KWOK simulates, with a real scheduler. Without it nothing schedules or runs
   * pods.
   */
  readonly nodes?: number | undefined;
}

/**
 * Starts etcd and kube-apiserver on free ports of 127.0.0.1: a real Kubernetes API. `assets` is a
 * folder with both programs, as envtest's `KUBEBUILDER_ASSETS`; nodes also need kube-scheduler,
 * kube-controller-manager and kwok there. They end with this process, even if this one is killed.
 * Rejects with the end of the programs' logs if they do not become ready.
 */
export async function startRealCluster(assets: string, options: RealClusterOptions = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'paddock-cluster-'));
  const token = randomBytes(16).toString('hex');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const serviceAccountKey = join(dir, 'service-account.key');
  const tokens = join(dir, 'tokens.csv');
  await writeFile(serviceAccountKey, privateKey.export({ type: 'pkcs8', format: 'pem' }), {
    mode: 0o600,
  });
  await writeFile(tokens, `${token},admin,admin,system:masters\n`, { mode: 0o600 });
  const etcd = `http://127.0.0.1:${await findFreePort()}`;
  const peer = `http://127.0.0.1:${await findFreePort()}`;
  const apiPort = await findFreePort();
  const api = `https://127.0.0.1:${apiPort}`;

  const parts = new Map<string, ReturnType<typeof startPart>>();
  const logs: string[] = [];
  const start = (name: string, flags: Readonly<Record<string, string>>): void => {
    const log = join(dir, `${name}.log`);
    logs.push(log);
    parts.set(name, startPart(join(assets, name), log, flags));
  };
  const stop = async (): Promise<void> => {
    await Promise.all([...parts.values()].map((part) => part.stop()));
    await rm(dir, { recursive: true, force: true });
  };
  const etcdFlags = {
    'data-dir': join(dir, 'etcd'),
    'unsafe-no-fsync': 'true',
    'log-level': 'error',
    'listen-client-urls': etcd,
    'advertise-client-urls': etcd,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
  };
  const apiFlags = {
    'etcd-servers': etcd,
    'bind-address': '127.0.0.1',
    'advertise-address': '127.0.0.1',
    'secure-port': String(apiPort),
    'cert-dir': join(dir, 'certs'),
    'authorization-mode': 'RBAC',
    'token-auth-file': tokens,
    'service-cluster-ip-range': '10.0.0.0/24',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': serviceAccountKey,
    'service-account-signing-key-file': serviceAccountKey,
    // A controller makes the service account of each pod, and it runs only with nodes.
    'disable-admission-plugins': 'ServiceAccount',
    'endpoint-reconciler-type': 'none',
    'allow-privileged': 'true',
    ...options.apiServerFlags,
  };
  const certificate = {
    certFile: join(dir, 'certs', 'apiserver.crt'),
    keyFile: join(dir, 'certs', 'apiserver.key'),
  };
  const startApiServer = async (): Promise<void> => {
    start('kube-apiserver', apiFlags);
    await waitFor(`a ready kube-apiserver at ${api}`, async () =>
      isReady(api, token, certificate.certFile),
    );
  };
  const kubeconfigFile = join(dir, 'kubeconfig');
  try {
    start('etcd', etcdFlags);
    // The API server refuses a watch from a version before its start as too old. So the store gets
    // a history, as any cluster has.
    await waitFor(`a first write to etcd at ${etcd}`, async () => growPast(etcd));
    await startApiServer();
    await writeFile(kubeconfigFile, kubeconfig(api, token, certificate.certFile), { mode: 0o600 });
    const { nodes: count } = options;
    const cluster = { dir, kubeconfigFile, ...certificate, serviceAccountKey, start };
    if (count !== undefined) await startPlayedNodes({ assets, ...cluster, count });
  } catch (error) {
    const ends = await Promise.all(logs.map(endOf));
    await stop();
    throw new Error(`The cluster programs in ${assets} did not start:\n${ends.join('\n')}`, {
      cause: error,
    });
  }
  return {
    url: api,
    /** Path of a kubeconfig with all rights. */
    kubeconfigFile,
    /** The API server's own certificate with its key, valid for any server on 127.0.0.1. */
    certificate,
    apiServer: {
      /** Kills it. It keeps its port. */
      kill: async () => parts.get('kube-apiserver')?.stop(),
      /** Starts it again on the same port, and waits until it is ready. */
      start: startApiServer,
      /** Makes it hang: it accepts connections and answers nothing until it is thawed. */
      freeze: () => parts.get('kube-apiserver')?.signal('SIGSTOP'),
      thaw: () => parts.get('kube-apiserver')?.signal('SIGCONT'),
    },
    /** Removes the history: watches and lists that continue from an older version are refused. */
    compact: () => compactStore(etcd),
    stop,
  };
}

/**
 * False until the certificate is written, the port is open and all health checks of the server
 * pass.
 */
async function isReady(api: string, token: string, certificate: string): Promise<boolean> {
  const ca = await readFile(certificate).catch(() => undefined);
  if (ca === undefined) return false;
  const headers = { authorization: `Bearer ${token}` };
  const asked = request(`${api}/readyz`, { ca, agent: false, headers }).end();
  const answered = once(asked, 'response') as Promise<[IncomingMessage]>;
  return answered.then(
    ([answer]) => answer.resume().statusCode === 200,
    () => false,
  );
}

function kubeconfig(server: string, token: string, certificate: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority': certificate } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
  });
}

async function endOf(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return `${file}:\n${text.split('\n').slice(-15).join('\n')}`;
}

/** Writes ten versions through etcd's JSON gateway; false until etcd takes them. */
async function growPast(etcd: string): Promise<boolean> {
  for (let version = 0; version < 10; version++) {
    const answer = await post(etcd, 'put', {
      key: Buffer.from('/past').toString('base64'),
      value: '',
    }).catch(() => undefined);
    if (answer?.ok !== true) return false;
  }
  return true;
}

/** Removes all versions but the newest. Throws if etcd refuses. */
async function compactStore(etcd: string): Promise<void> {
  const read = await post(etcd, 'range', { key: Buffer.from('/past').toString('base64') });
  const { header } = (await read.json()) as { header: { revision: string } };
  const compacted = await post(etcd, 'compaction', { revision: header.revision, physical: true });
  if (!compacted.ok)
    throw new Error(
      `etcd did not compact its store at ${header.revision}: ${await compacted.text()}`,
    );
}

const post = (
  etcd: string,
  call: 'put' | 'range' | 'compaction',
  body: object,
): Promise<Response> =>
  fetch(`${etcd}/v3/kv/${call}`, { method: 'POST', body: JSON.stringify(body) });

/** Starts a program whose output goes to the end of a file. It never outlives this process. */
function startPart(program: string, logFile: string, flags: Readonly<Record<string, string>>) {
  const log = openSync(logFile, 'a');
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  // Detached: a Ctrl-C ends this process first.
  const part = spawn(program, args, { detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  const exited = once(part, 'exit');
  killWithParent(part, exited);
  return {
    /** Kills it, as a power failure does. Resolves when it is gone. */
    async stop(): Promise<void> {
      part.kill('SIGKILL');
      await exited;
    },
    signal: (signal: 'SIGSTOP' | 'SIGCONT') => void part.kill(signal),
  };
}
