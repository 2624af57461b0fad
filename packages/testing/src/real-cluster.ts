import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { openSync, closeSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@paddock/embedded-postgres/free-port';
import { waitFor } from './wait-for.ts';

export interface RealCluster {
  /** Path of a kubeconfig with all rights. */
  readonly kubeconfigFile: string;
  stop(): Promise<void>;
}

/**
 * Starts etcd and kube-apiserver on free ports of 127.0.0.1: a real Kubernetes API where nothing schedules or runs pods. `assets` is a
 * folder with both programs, as envtest's `KUBEBUILDER_ASSETS`. They end with this process, however it ends. Rejects with the end of the
 * programs' logs when the API does not become ready.
 */
export async function startRealCluster(assets: string): Promise<RealCluster> {
  const dir = await mkdtemp(join(tmpdir(), 'paddock-cluster-'));
  const token = randomBytes(16).toString('hex');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const serviceAccountKey = join(dir, 'service-account.key');
  const tokens = join(dir, 'tokens.csv');
  await writeFile(serviceAccountKey, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  await writeFile(tokens, `${token},admin,admin,system:masters\n`, { mode: 0o600 });
  const [etcdPort, peerPort, apiPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const [etcd, peer, api] = [`http://127.0.0.1:${etcdPort}`, `http://127.0.0.1:${peerPort}`, `https://127.0.0.1:${apiPort}`];

  const parts: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(parts.map(async (part) => part.stop()));
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
    // The service account that each pod would need is made by a controller that does not run here.
    'disable-admission-plugins': 'ServiceAccount',
    'endpoint-reconciler-type': 'none',
    'allow-privileged': 'true',
  };
  const certificate = join(dir, 'certs', 'apiserver.crt');
  try {
    parts.push(startPart(join(assets, 'etcd'), join(dir, 'etcd.log'), etcdFlags));
    // Versions from before the API server's start are too old for a watch, so the store gets a past, as any cluster has.
    await waitFor(`a first write to etcd at ${etcd}`, async () => hasPast(etcd));
    parts.push(startPart(join(assets, 'kube-apiserver'), join(dir, 'kube-apiserver.log'), apiFlags));
    await waitFor(`a ready kube-apiserver at ${api}`, async () => isReady(api, token, certificate), { timeoutMs: 45_000 });
    const kubeconfigFile = join(dir, 'kubeconfig');
    await writeFile(kubeconfigFile, kubeconfig(api, token, certificate), { mode: 0o600 });
    return { kubeconfigFile, stop };
  } catch (error) {
    const logs = await Promise.all(['etcd', 'kube-apiserver'].map(async (name) => endOf(join(dir, `${name}.log`))));
    await stop();
    throw new Error(`The cluster programs in ${assets} did not start:\n${logs.join('\n')}`, { cause: error });
  }
}

/** Writes ten versions through etcd's JSON gateway; false until etcd takes them. */
async function hasPast(etcd: string): Promise<boolean> {
  const put = { key: Buffer.from('/past').toString('base64'), value: '' };
  for (let version = 0; version < 10; version++) {
    const answer = await fetch(`${etcd}/v3/kv/put`, { method: 'POST', body: JSON.stringify(put) }).catch(() => undefined);
    if (answer?.ok !== true) return false;
  }
  return true;
}

/** Runs a program until fd 3 closes, which the system does even when this process is killed outright. */
const GUARD = `
"$@" </dev/null 3<&- &
part=$!
trap '' HUP INT TERM
( read -r _; kill -s KILL $part ) <&3 >/dev/null 2>&1 &
exec 3<&-
wait $part`;

function startPart(program: string, logFile: string, flags: Readonly<Record<string, string>>): { stop(): Promise<void> } {
  const log = openSync(logFile, 'a');
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const guard: ChildProcess = spawn('/bin/sh', ['-c', GUARD, 'paddock-cluster-guard', program, ...args], {
    detached: true,
    stdio: ['ignore', log, log, 'pipe'],
  });
  closeSync(log);
  const exited = once(guard, 'exit');
  const pipe = guard.stdio[3];
  // Closing the pipe of a guard that is gone fails; that it is gone is what was wanted.
  pipe?.on('error', () => undefined);
  return {
    stop: async () => {
      pipe?.destroy();
      await exited;
    },
  };
}

/** False until the certificate is written, the port is open and all of the server's own checks pass. */
async function isReady(api: string, token: string, certificate: string): Promise<boolean> {
  const ca = await readFile(certificate).catch(() => undefined);
  if (ca === undefined) return false;
  return new Promise((resolve) => {
    const asked = request(`${api}/readyz`, { ca, agent: false, headers: { authorization: `Bearer ${token}` } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.on('error', () => resolve(false));
    asked.end();
  });
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
