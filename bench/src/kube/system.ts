import { rulesVariable } from '@paddock/runtime/rules';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectDatabase } from '@paddock/db/connection/connect';
import { findInstance } from '@paddock/db/instance';
import { migrate } from '@paddock/db/migrate';
import type { Database } from '@paddock/db/schema/tables';
import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { makeTemporaryFolder, removeFolder } from '@paddock/embedded-postgres/temporary-folder';
import { type Cluster, connectCluster } from '@paddock/kube/connect';
import { type Program, startProgram } from '@paddock/processes/start-program';
import { createAppKey } from '@paddock/simulators/github/app-key';
import { connectAsAdmin } from '@paddock/testing/admin-api';
import { startRealCluster } from '@paddock/testing/real-cluster';
import type { Kysely } from 'kysely';
import { appProgram, simulatorProgram } from '../programs.ts';
import { untilReady } from '@paddock/processes/until-ready';

export const NAMESPACE = 'runners';
export const POOL = {
  name: 'bench',
  labels: ['self-hosted', 'bench'],
  image: 'runner:1',
  namespace: NAMESPACE,
};

const SCHEMA = 'paddock';
const NODES = 2;

export interface System {
  readonly db: Kysely<Database>;
  readonly instance: string;
  readonly cluster: Cluster;
  /** The scheduler; only its follower of pods has work. */
  readonly follower: Program;
  close(): Promise<void>;
}

/**
 * A control plane, PostgreSQL with default durability and one scheduler. No job waits for a worker,
 * and the scheduler does not stop idle workers.
 */
export async function startSystem(assets: string): Promise<System> {
  const undo: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0)) await step();
  };
  const start = async (
    program: string,
    args: string[],
    env: Record<string, string>,
  ): Promise<Program> => {
    const started = await startProgram({ program, args, env: { NODE_ENV: 'production', ...env } });
    undo.unshift(async () => {
      started.kill('SIGTERM');
      await started.exited;
    });
    return started;
  };
  try {
    const real = await startRealCluster(assets, { nodes: NODES });
    undo.unshift(real.stop);
    const admin = await connectAsAdmin(real.kubeconfigFile);
    await admin('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: NAMESPACE },
    });
    const cluster = connectCluster({
      kubeconfigFile: real.kubeconfigFile,
      requestTimeoutMs: 60_000,
    });
    undo.unshift(() => Promise.resolve(cluster.close()));

    // The instant of a row's commit shows how late the row is.
    const postgres = await startPostgres({
      durable: true,
      settings: { track_commit_timestamp: 'on' },
    });
    undo.unshift(() => postgres.stop());
    const folder = await makeTemporaryFolder(tmpdir());
    undo.unshift(() => removeFolder(folder));
    await migrate({ url: postgres.url(), schema: SCHEMA });
    const { db, close: disconnect } = connectDatabase({
      url: postgres.url(),
      schema: SCHEMA,
      poolSize: 2,
      applicationName: 'paddock-bench',
    });
    undo.unshift(disconnect);
    const content = JSON.stringify({ pools: [POOL], entities: { '*': { maxWorkers: null } } });
    await db.insertInto('pools_documents').values({ digest: content, content }).execute();

    const { privateKeyPem, publicKeyPem } = createAppKey();
    const apps = [{ appId: 1, publicKeyPem, webhookSecret: 'unused here' }];
    const github = await start(simulatorProgram('simulate-github'), [JSON.stringify({ apps })], {});
    const configFile = join(folder, 'paddock.yaml');
    const app = { id: 1, webhookSecret: { env: 'WEBHOOK_SECRET' }, privateKey: { env: 'APP_KEY' } };
    const apiUrl = `http://127.0.0.1:${github.port}`;
    const config = {
      github: { apiUrl, apps: [app] },
      pools: [POOL],
      entities: { '*': { maxWorkers: null } },
    };
    await writeFile(configFile, JSON.stringify(config));
    const follower = await start(appProgram('scheduler'), [], {
      DATABASE_URL: postgres.url(),
      PADDOCK_SCHEMA: SCHEMA,
      PADDOCK_CONFIG: configFile,
      PADDOCK_KUBECONFIG: real.kubeconfigFile,
      PADDOCK_HTTP_HOST: '127.0.0.1',
      PADDOCK_HEALTH_PORT: '0',
      ...rulesVariable({
        scheduler: { forgottenAfterMs: 86_400_000 },
        db: { surplusAfterMs: 86_400_000 },
      }),
      WEBHOOK_SECRET: 'unused here',
      APP_KEY: privateKeyPem,
    });
    await untilReady(follower.healthPort);
    return { db, instance: await findInstance(db), cluster, follower, close };
  } catch (error) {
    await close();
    throw error;
  }
}
