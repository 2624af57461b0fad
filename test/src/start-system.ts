import { afterAll, beforeAll } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@paddock/db/migrate';
import type { Program } from '@paddock/processes/start-program';
import { type RuleValues, rulesVariable } from '@paddock/runtime/rules';
import { sharedAppKey } from '@paddock/testing/stand-ins';
import { playRunner } from '@paddock/simulators/github/play-runner';
import {
  type GitHubSimulator,
  startGitHubSimulator,
} from '@paddock/simulators/github/start-github-simulator';
import type { PlayRunner } from '@paddock/simulators/kube/kubelet';
import {
  type KubeSimulator,
  startKubeSimulator,
} from '@paddock/simulators/kube/start-kube-simulator';
import { createTestDatabase, openMigrated, type TestDatabase } from '@paddock/testing/database';
import { putPools } from '@paddock/testing/demand-rows';
import { startService } from '@paddock/testing/processes';
import { late } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';

export type ServiceName = 'ingress' | 'scheduler' | 'reconciler';

export type TestSystem = Awaited<ReturnType<typeof startSystem>>;

type NewJob = Parameters<GitHubSimulator['queueJob']>[0];
type JobStatus = 'pending' | 'running' | 'completed';

export async function kill(program: Program | undefined): Promise<void> {
  program?.kill('SIGKILL');
  await program?.exited;
}

export const isReady = async ({ healthPort }: Program): Promise<boolean> =>
  (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).status === 200;

export interface HowToStart {
  readonly settings?: Readonly<Record<string, string>>;
  /** Beside `SHORT_TIMES`. */
  readonly rules?: RuleValues;
  readonly program?: string | undefined;
}

export const APP_ID = 4711;
export const WEBHOOK_SECRET = 'a secret for tests';
export const NAMESPACE = 'runners';

const POOLS = {
  pools: [
    { name: 'linux', labels: ['self-hosted', 'linux'], image: 'runner:1', namespace: NAMESPACE },
    {
      name: 'gpu',
      labels: ['self-hosted', 'gpu'],
      image: 'runner:1',
      namespace: NAMESPACE,
      maxWorkers: 2,
    },
    {
      name: 'deploy',
      labels: ['deploy'],
      image: 'runner:1',
      namespace: NAMESPACE,
      entities: ['acme'],
      runnerGroup: 'deploy',
      unlabelled: true,
    },
  ],
  entities: { '*': { maxWorkers: 5 } },
};

/** Short, so that a test need not wait long; nothing depends on them. */
const SHORT_TIMES = {
  scheduler: {
    matchTickMs: 500,
    // As long as a delivery may take on a busy machine: until then, the end counts for its job.
    unexplainedGraceMs: 60_000,
  },
  queue: { taskPollMs: 500 },
  reconciler: { redeliveryEverySeconds: 1, redeliverySpacingMs: 500 },
};

interface TestSystemOptions {
  /** Works in the same database and the same cluster as that one, in another schema. */
  readonly beside?: {
    readonly system: { readonly database: TestDatabase; readonly cluster: KubeSimulator };
    readonly schema: string;
  };
  /** Plays a container with its JIT config; by default the simulated runner's part. */
  readonly playRunner?: PlayRunner;
}

/** A system for the tests of a file, or of a `describe`, in which these services run. */
export function useSystem(
  services: Readonly<Partial<Record<ServiceName, HowToStart>>> = {},
  options: TestSystemOptions = {},
): TestSystem {
  let system: TestSystem;
  beforeAll(async () => {
    system = await startSystem(options);
    for (const [service, how] of Object.entries(services))
      await system.start(service as ServiceName, how);
  });
  afterAll(() => system.stop());
  return late(() => system);
}

/**
 * Starts a database and both simulators in this process. Our services are separate processes, which
 * a test starts and kills. One organisation and one user have the App installed.
 */
export async function startSystem({
  beside,
  playRunner: play = playRunner,
}: TestSystemOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'paddock-test-'));
  const startDelayMs: [least: number, most: number] = [5, 30];
  const key = sharedAppKey();
  const github = await startGitHubSimulator({
    apps: [{ appId: APP_ID, publicKeyPem: key.publicKeyPem, webhookSecret: WEBHOOK_SECRET }],
  });
  const cluster =
    beside?.system.cluster ??
    (await startKubeSimulator({
      namespaces: [NAMESPACE],
      playRunner: play,
      startDelayMs,
    }));
  const database =
    beside === undefined
      ? await createTestDatabase()
      : await shareDatabase(beside.system.database, beside.schema);
  const config = join(folder, 'paddock.yaml');
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
  const configure = (more: object = {}, maxWorkers = POOLS.entities['*'].maxWorkers) => {
    const section = { ...githubSection(github.url), ...more };
    const entities = { '*': { maxWorkers } };
    return writeFile(config, JSON.stringify({ github: section, ...POOLS, entities }));
  };
  await configure();
  // Ingress needs it, also in tests that start no scheduler.
  await putPools(database.db, POOLS);
  await furnish(github);

  const started: Program[] = [];
  const running = new Map<ServiceName, Program>();
  const jobsThat = async (status: JobStatus): Promise<number[]> => {
    const jobs = database.db.selectFrom('jobs').select('job_id').where('status', '=', status);
    return (await jobs.execute()).map((row) => row.job_id);
  };
  const liveWorkers = () =>
    database.db
      .selectFrom('workers')
      .select(['pod_name', 'assigned_job_id'])
      .where('status', 'in', ['pending', 'running'])
      .orderBy('pod_name')
      .execute();
  return {
    database,
    github,
    cluster,
    /** How long pods take to start, until a test changes it. */
    startDelayMs,
    /** The path of the services' configuration file. */
    config,
    /** Writes that file with more keys of `github`, and with this cap of each entity. */
    configure,
    /** The last one of each service that was started. */
    running,
    /** Starts today's version of a service, or another program in its place. */
    async start(
      app: ServiceName,
      { settings = {}, rules = {}, program: other }: HowToStart = {},
    ): Promise<Program> {
      const program = await startService({
        app,
        program: other,
        env: {
          DATABASE_URL: database.urlOf(app),
          PADDOCK_SCHEMA: database.schema,
          PADDOCK_CONFIG: config,
          PADDOCK_KUBECONFIG: kubeconfig,
          WEBHOOK_SECRET,
          APP_KEY: key.privateKeyPem,
          ...settings,
          ...rulesVariable(SHORT_TIMES, rules),
        },
      });
      started.push(program);
      running.set(app, program);
      if (app === 'ingress') {
        // As a Service of the cluster does, which sends nothing to a pod that is not ready.
        await waitFor('ingress to be ready', () => isReady(program));
        const webhookUrl = `http://127.0.0.1:${program.port}/webhooks/github`;
        await github.setApp(APP_ID, { webhookUrl });
      }
      return program;
    },
    /** Queues jobs of acme/shop for the pool linux, unless said otherwise. Returns their ids. */
    queueJobs: (count: number, job?: Partial<NewJob>): Promise<number[]> =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const usual = { repo: 'acme/shop', labels: ['self-hosted', 'linux'] };
          return (await github.queueJob({ ...usual, ...job })).id;
        }),
      ),
    jobsThat,
    /** Waits until our rows of these jobs have a status. */
    async untilJobs(ids: readonly number[], status: JobStatus): Promise<void> {
      await waitFor(`jobs ${ids.join(', ')} to be ${status}`, async () => {
        const found = new Set(await jobsThat(status));
        return ids.every((id) => found.has(id));
      });
    },
    liveWorkers,
    async untilWorkersEnd(): Promise<void> {
      await waitFor('all workers to end', async () => (await liveWorkers()).length === 0);
    },
    async stop(): Promise<void> {
      for (const program of started) await kill(program);
      if (beside === undefined) await cluster.stop();
      await github.stop();
      await database.drop();
      await rm(folder, { recursive: true });
    },
  };
}

async function shareDatabase({ url }: TestDatabase, schema: string): Promise<TestDatabase> {
  await migrate({ url, schema });
  return openMigrated({ url, schema });
}

const githubSection = (apiUrl: string) => ({
  apiUrl,
  apps: [{ id: APP_ID, webhookSecret: { env: 'WEBHOOK_SECRET' }, privateKey: { env: 'APP_KEY' } }],
});

async function furnish(github: GitHubSimulator): Promise<void> {
  await github.addOrganization({ login: 'acme' });
  await github.addRepository({ owner: 'acme', name: 'shop', private: true });
  await github.addUser({ login: 'mona' });
  for (const name of ['dotfiles', 'compiler'])
    await github.addRepository({ owner: 'mona', name, private: true });
  await github.install({ appId: APP_ID, account: 'acme', announce: false });
  await github.install({ appId: APP_ID, account: 'mona', announce: false });
}
