import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { clientConfig, connectDatabase, openDatabase } from '@paddock/db/connection/connect';
import { listen } from '@paddock/db/connection/listen';
import { type Postgres, startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { type Cluster, connectCluster } from '@paddock/kube/connect';
import { listPods } from '@paddock/kube/pods';
import { withConnection } from '@paddock/testing/server-connection';
import { sharedAppKey } from '@paddock/testing/stand-ins';
import { useFolder } from '@paddock/testing/use-folder';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chown, copyFile, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type RequestListener, type Server, createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { generate } from 'selfsigned';

let postgres: Postgres;
const folder = useFolder();
/** Files: the authority of the server's certificate, and another one. */
let trusted: string;
let other: string;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

/** Gives the server, which has had no TLS, a certificate. */
async function turnTlsOn(): Promise<void> {
  const [{ key, cert }, stranger] = await Promise.all([makeCertificate(), makeCertificate()]);
  const { uid, gid } = await stat(postgres.dataDir);
  for (const [name, text] of Object.entries({ 'server.key': key, 'server.crt': cert })) {
    const path = join(postgres.dataDir, name);
    await writeFile(path, text, { mode: 0o600 });
    await chown(path, uid, gid);
  }
  trusted = join(folder, 'trusted.crt');
  other = join(folder, 'other.crt');
  await writeFile(trusted, cert);
  await writeFile(other, stranger.cert);
  await withConnection(postgres.url(), async (client) => {
    await client.query('alter system set ssl = on');
    await client.query('select pg_reload_conf()');
  });
  await waitFor('the server to have TLS', () =>
    isEncrypted({ sslmode: 'require' }).catch(() => false),
  );
}

interface Dsn {
  readonly sslmode?: string;
  readonly sslrootcert?: string;
  /** The certificate does not name it. */
  readonly host?: 'localhost';
}

function options({ host, ...parameters }: Dsn) {
  const url = new URL(postgres.url());
  if (host !== undefined) url.hostname = host;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, schema: 'public', applicationName: 'tls' };
}

/** Whether PostgreSQL itself calls a connection of the pool encrypted. Rejects if there is none. */
async function isEncrypted(dsn: Dsn): Promise<boolean | undefined> {
  const { db, close } = connectDatabase({ ...options(dsn), poolSize: 1 });
  try {
    const { rows } = await sql<{ ssl: boolean }>`
      select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(db);
    return rows[0]?.ssl;
  } finally {
    await close();
  }
}

describe('sslmode as PostgreSQL documents it (A11), where the server has no TLS', () => {
  test('TLS that is only preferred is left out', async () => {
    expect(await isEncrypted({})).toBe(false);
    expect(await isEncrypted({ sslmode: 'prefer' })).toBe(false);
  });

  test('TLS that is required is an error', async () => {
    for (const sslmode of ['require', 'verify-ca', 'verify-full']) {
      await expect(isEncrypted({ sslmode })).rejects.toThrow('does not support SSL');
    }
  });
});

const ofTrusted = () => ({ sslrootcert: trusted });
const ofOther = () => ({ sslrootcert: other });
const atOtherName = () => ({ sslrootcert: trusted, host: 'localhost' as const });
const SELF_SIGNED = 'self-signed certificate';

describe('sslmode as PostgreSQL documents it (A11), where the server has a certificate', () => {
  beforeAll(turnTlsOn);

  test('a DSN that says nothing is encrypted; only one that says so is not', async () => {
    expect(await isEncrypted({})).toBe(true);
    expect(await isEncrypted({ sslmode: 'prefer' })).toBe(true);
    expect(await isEncrypted({ sslmode: 'disable' })).toBe(false);
  });

  test('connections beside the pool are encrypted too', async () => {
    const config = clientConfig({
      ...options({ sslmode: 'verify-full', sslrootcert: trusted }),
      applicationName: 'beside the pool',
    });
    const own = openDatabase(config, 1);
    const stop = new AbortController();
    const { promise: listens, resolve, reject } = Promise.withResolvers<void>();
    const listening = listen(
      { config, channels: ['c'], onWake: () => resolve(), onError: reject },
      stop.signal,
    );
    try {
      await listens;
      const { rows } = await sql`
        select ssl from pg_stat_ssl join pg_stat_activity using (pid)
        where application_name = current_setting('application_name')`.execute(own.db);
      expect(rows).toEqual([{ ssl: true }, { ssl: true }]);
    } finally {
      stop.abort();
      await listening;
      await own.close();
    }
  });

  test.each<[sslmode: string, does: string, dsn: () => Dsn, expected: string]>([
    ['require', 'needs no authority', () => ({}), 'true'],
    ['require', 'checks the one it is given', ofTrusted, 'true'],
    ['require', 'refuses another one’s certificate', ofOther, SELF_SIGNED],
    ['verify-ca', 'takes any name', atOtherName, 'true'],
    ['verify-ca', 'refuses another one’s certificate', ofOther, SELF_SIGNED],
    ['verify-full', 'takes the name of the certificate', ofTrusted, 'true'],
    ['verify-full', 'refuses another name', atOtherName, "does not match certificate's"],
    ['verify-full', 'trusts public authorities without a given one', () => ({}), SELF_SIGNED],
  ])('%s %s', async (sslmode, _does, dsn, expected) => {
    const result = await isEncrypted({ sslmode, ...dsn() }).catch((error: unknown) =>
      String(error),
    );
    expect(String(result)).toContain(expected);
  });

  test('a renewed certificate is in force for the next connection; one that cannot be read changes nothing', async () => {
    const renewed = join(folder, 'renewed.crt');
    await copyFile(other, renewed);
    const dsn = { sslmode: 'verify-full', sslrootcert: renewed };
    const { db, close } = connectDatabase({ ...options(dsn), poolSize: 2 });
    const ask = () => sql`select 1`.execute(db);
    await expect(ask()).rejects.toThrow(SELF_SIGNED);
    await copyFile(trusted, renewed);
    await db.connection().execute(async (open) => {
      await sql`select 1`.execute(open);
      await rm(renewed);
      await ask();
    });
    await close();
  });
});

test('a password that changes in its file is in force for the next connection (A11)', async () => {
  const passfile = join(folder, 'pgpass');
  const write = (password: string) => writeFile(passfile, `*:*:*:rotating:${password}\n`);
  const hba = join(postgres.dataDir, 'pg_hba.conf');
  await writeFile(hba, `host all rotating all scram-sha-256\n${await readFile(hba, 'utf8')}`);
  const change = (statement: string) =>
    withConnection(postgres.url(), (client) => client.query(statement));
  await change("create role rotating login password 'first'");
  await change('select pg_reload_conf()');
  const url = new URL(postgres.url());
  url.username = 'rotating';
  await waitFor('the login to need its password', () =>
    withConnection(url.href.replace('@', ':wrong@'), () => Promise.resolve(false)).catch(
      () => true,
    ),
  );
  url.searchParams.set('passfile', passfile);
  const limits = { poolSize: 2, connectTimeoutMs: 1_500 };
  const { db, close } = connectDatabase({ ...options({}), url: url.href, ...limits });
  const ask = (on = db) => sql`select 1`.execute(on);
  await write('first');
  await db.connection().execute(async (open) => {
    await change("alter role rotating password 'second'");
    await ask(open);
    await expect(ask()).rejects.toMatchObject({ code: '28P01' });
    await write('second');
    await ask();
  });
  await close();
});

const run = promisify(execFile);
/** Node.js 22.18, the oldest that Paddock runs on, ignores the variable (docs/network.md). */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const describeProxy = major > 22 || minor >= 21 ? describe : describe.skip;

type Secure = Awaited<ReturnType<typeof startSecureServer>>;

describe('the way to GitHub (H4)', () => {
  let enterprise: Secure;
  let authority: string;
  beforeAll(async () => {
    enterprise = await startSecureServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 1, slug: 'paddock', permissions: {}, events: [] }));
    });
    authority = join(folder, 'ca.pem');
    await writeFile(authority, enterprise.ca);
  });
  afterAll(() => enterprise.close());

  async function ask(env: NodeJS.ProcessEnv): Promise<string> {
    const program = fileURLToPath(new URL('scenes/ask-github.scene.ts', import.meta.url));
    const words = [program, `${enterprise.url}/api/v3`, '1', sharedAppKey().privateKeyPem];
    return (await run(process.execPath, words, { env, timeout: 120_000 })).stdout;
  }

  test('trusts an Enterprise Server with a private certificate only by NODE_EXTRA_CA_CERTS', async () => {
    expect(JSON.parse(await ask({ NODE_EXTRA_CA_CERTS: authority }))).toBeDefined();
    await expect(ask({})).rejects.toThrow(/self.signed certificate|unable to verify/i);
  });

  describeProxy('a proxy (Node.js 22.21 or newer)', () => {
    test('HTTPS_PROXY is taken with NODE_USE_ENV_PROXY, and NO_PROXY spared', async () => {
      const proxy = await startProxy();
      const own = { NODE_EXTRA_CA_CERTS: authority, NODE_USE_ENV_PROXY: '1' };
      const env = { ...own, HTTPS_PROXY: proxy.url };
      try {
        await ask({ ...env, NO_PROXY: '127.0.0.1' });
        expect(proxy.targets).toEqual([]);
        await ask(env);
        expect(proxy.targets).toEqual([new URL(enterprise.url).host]);
      } finally {
        await proxy.close();
      }
    });

    test('notifications and traces take it too', async () => {
      const proxy = await startProxy();
      const env = {
        NODE_EXTRA_CA_CERTS: authority,
        NODE_USE_ENV_PROXY: '1',
        HTTPS_PROXY: proxy.url,
      };
      const posting = fileURLToPath(
        new URL('../../apps/reconciler/src/post-json.ts', import.meta.url),
      );
      const program = `import { post } from ${JSON.stringify(posting)};
        process.stdout.write(String(await post('it', new URL(${JSON.stringify(enterprise.url)}), {}, { signal: AbortSignal.timeout(60_000) })));`;
      try {
        const words = ['--input-type=module', '-e', program];
        expect((await run(process.execPath, words, { env })).stdout).toBe('undefined');
        expect(proxy.targets).toEqual([new URL(enterprise.url).host]);
      } finally {
        await proxy.close();
      }
    });
  });
});

describe('the way to the cluster (H4)', () => {
  const emptyList = {
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: { resourceVersion: '1' },
    items: [],
  };
  let server: Secure;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  beforeEach(async () => {
    server = await startSecureServer(
      (_request, response) => void response.end(JSON.stringify(emptyList)),
    );
    proxy = await startProxy();
  });
  afterEach(() => Promise.all([server.close(), proxy.close()]));

  /** Connects by a kubeconfig with these keys beside the server's address. */
  async function connectWith(more: object): Promise<Cluster> {
    const kubeconfigFile = join(folder, 'kubeconfig');
    const config = {
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server: server.url, ...more } }],
      users: [{ name: 'u', user: { token: 'token' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    };
    await writeFile(kubeconfigFile, JSON.stringify(config));
    return connectCluster({ kubeconfigFile, requestTimeoutMs: 20_000 });
  }

  test("it goes through the kubeconfig's proxy, and trusts the kubeconfig's certificate only", async () => {
    const proxied = { 'proxy-url': proxy.url };
    const authority = {
      'certificate-authority-data': Buffer.from(server.ca).toString('base64'),
    };
    const trusting = await connectWith({ ...proxied, ...authority });
    expect(await list(trusting)).toMatchObject({ pods: [] });
    expect(proxy.targets).toEqual([new URL(server.url).host]);
    trusting.close();
    const strange = await connectWith(proxied);
    await expect(list(strange)).rejects.toMatchObject({ failure: { kind: 'network' } });
    strange.close();
  });

  test('a certificate that changes on disk is trusted with the next call, through a proxy too', async () => {
    const ca = join(folder, 'authority.crt');
    await writeFile(ca, server.ca);
    const authority = { 'certificate-authority': ca };
    const clusters = [
      await connectWith(authority),
      await connectWith({ ...authority, 'proxy-url': proxy.url }),
    ];
    for (const cluster of clusters) expect(await list(cluster)).toMatchObject({ pods: [] });
    await writeFile(ca, await server.renew());
    for (const cluster of clusters) expect(await list(cluster)).toMatchObject({ pods: [] });
    expect(proxy.targets).toHaveLength(2);
    for (const cluster of clusters) cluster.close();
  });
});

const list = (cluster: Cluster) => listPods(cluster, { namespace: 'runners', instance: 'i' });

/** A certificate of 127.0.0.1, and of no name, that is its own authority. */
async function makeCertificate() {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'a test' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    ],
  });
  return { key, cert };
}

/**
 * A server for TLS on loopback with an unknown certificate; `ca` is the one to trust. `renew` gives
 * it another.
 */
async function startSecureServer(listener: RequestListener) {
  const { key, cert } = await makeCertificate();
  const server = createSecureServer({ key, cert }, listener);
  const port = await listenOnLoopback(server);
  const renew = async () => {
    const next = await makeCertificate();
    server.setSecureContext(next);
    server.closeAllConnections();
    return next.cert;
  };
  return { url: `https://127.0.0.1:${port}`, ca: cert, renew, close: async () => closeAll(server) };
}

/** A proxy that opens tunnels (CONNECT), and remembers where to. */
async function startProxy() {
  const targets: string[] = [];
  // Once it is a tunnel, the server does not count a connection among its own.
  const open = new Set<Duplex>();
  const server = createServer((_request, response) => void response.writeHead(405).end());
  server.on('connect', (request, socket, head) => {
    targets.push(request.url ?? '');
    const { hostname, port } = new URL(`http://${request.url ?? ''}`);
    open.add(socket);
    const tunnel = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      tunnel.write(head);
      tunnel.pipe(socket).pipe(tunnel);
    });
    // Either side may go first, and takes the other with it.
    tunnel.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('error', () => tunnel.destroy()).on('close', () => tunnel.destroy());
  });
  const port = await listenOnLoopback(server);
  const close = async (): Promise<void> => {
    for (const socket of open) socket.destroy();
    await closeAll(server);
  };
  return { url: `http://127.0.0.1:${port}`, targets, close };
}

async function listenOnLoopback(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

async function closeAll(server: Server): Promise<void> {
  server.closeAllConnections();
  await once(server.close(), 'close');
}
