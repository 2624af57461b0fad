import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@paddock/db/migrate';
import { type Postgres, startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { makeTemporaryFolder, removeFolder } from '@paddock/embedded-postgres/temporary-folder';
import { startProgram } from '@paddock/processes/start-program';
import { createAppKey } from '@paddock/simulators/github/app-key';
import type { GitHubControl } from '@paddock/simulators/github/control';
import { connectGitHubSimulator } from '@paddock/simulators/github/control-client';
import { connectKubeControl } from '@paddock/simulators/kube/control-client';
import type { RemoteKubeControl } from '@paddock/simulators/kube/kube-control';
import { APP_ID } from '../app-id.ts';
import { appProgram, simulatorProgram } from '../programs.ts';
import { untilReady } from '@paddock/processes/until-ready';

export const LABELS = ['self-hosted', 'linux', 'x64'];
export const SCHEMA = 'paddock';
const NAMESPACE = 'runners';
const WEBHOOK_SECRET = 'a webhook secret for measuring';

export interface System {
  readonly github: GitHubControl;
  readonly cluster: RemoteKubeControl;
  readonly clusterUrl: string;
  readonly postgres: Postgres;
  /** All of them except PostgreSQL. */
  readonly processes: readonly SystemProcess[];
  /** Rejects when a service ends by itself; never resolves. */
  readonly broken: Promise<never>;
  close(): Promise<void>;
}

export interface SystemProcess {
  readonly name: string;
  readonly pid: number;
}

export interface SystemOptions {
  /** Ingress always runs. */
  readonly services: readonly ('scheduler' | 'reconciler')[];
  /**
   * The URL of a running PostgreSQL, which stays; else the bench starts one with default
   * durability.
   */
  readonly postgres?: Postgres;
  /** Names of pools; each pool serves the label of its name. */
  readonly pools?: readonly string[];
  /** The runners start and never connect to GitHub. */
  readonly idleRunners: boolean;
  /** Fills the simulated GitHub before any service calls it. */
  readonly furnish?: (github: GitHubControl) => Promise<void>;
}

/**
 * PostgreSQL, the simulated GitHub and cluster, ingress and other services, each in a separate
 * process. Their settings are the defaults.
 */
export async function startSystem({
  services,
  pools,
  idleRunners,
  furnish,
  ...given
}: SystemOptions): Promise<System> {
  const undo: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0)) await step();
  };
  let isClosing = false;
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => undefined); // the measurement awaits it later
  const start = async (
    name: string,
    program: string,
    { args = [], env = {} }: { args?: string[]; env?: Record<string, string> },
  ) => {
    const { pid, port, healthPort, exited, kill, lines } = await startProgram({
      program,
      args,
      env: { NODE_ENV: 'production', ...env },
    });
    undo.unshift(async () => {
      isClosing = true;
      kill('SIGTERM');
      await exited;
    });
    const failIfTooEarly = (): void => {
      if (!isClosing)
        broken.reject(new Error(`The ${name} ended by itself:\n${lines().slice(-20).join('\n')}`));
    };
    void exited.then(failIfTooEarly);
    if (port === undefined) throw new Error(`The ${name} did not say where it listens.`);
    return { name, pid, healthPort, url: `http://127.0.0.1:${port}` };
  };

  try {
    const postgres =
      given.postgres ??
      (await startPostgres({
        durable: true,
        settings: { shared_preload_libraries: 'pg_stat_statements' },
      }));
    if (given.postgres === undefined) undo.unshift(() => postgres.stop());
    const folder = await makeTemporaryFolder(tmpdir());
    undo.unshift(() => removeFolder(folder));
    await migrate({ url: postgres.url(), schema: SCHEMA });

    const { privateKeyPem, publicKeyPem } = createAppKey();
    const githubOptions = {
      apps: [{ appId: APP_ID, publicKeyPem, webhookSecret: WEBHOOK_SECRET }],
    };
    const simulatedGitHub = await start('simulated GitHub', simulatorProgram('simulate-github'), {
      args: [JSON.stringify(githubOptions)],
    });
    const kubeconfigFile = join(folder, 'kubeconfig');
    const clusterOptions = { namespaces: [NAMESPACE], kubeconfigFile, idleRunners };
    const simulatedCluster = await start(
      'simulated cluster',
      simulatorProgram('simulate-cluster'),
      {
        args: [JSON.stringify(clusterOptions)],
      },
    );

    const env = {
      DATABASE_URL: postgres.url(),
      PADDOCK_SCHEMA: SCHEMA,
      PADDOCK_CONFIG: await writeConfig(folder, simulatedGitHub.url, pools),
      PADDOCK_KUBECONFIG: kubeconfigFile,
      PADDOCK_HTTP_HOST: '127.0.0.1',
      PADDOCK_PUBLIC_PORT: '0',
      PADDOCK_HEALTH_PORT: '0',
      WEBHOOK_SECRET,
      APP_KEY: privateKeyPem,
    };
    const github = connectGitHubSimulator(simulatedGitHub.url);
    await furnish?.(github);
    const ingress = await start('ingress', appProgram('ingress'), { env });
    const others = [];
    for (const service of services) others.push(await start(service, appProgram(service), { env }));
    for (const { healthPort } of [ingress, ...others]) await untilReady(healthPort);
    await github.setApp(APP_ID, { webhookUrl: `${ingress.url}/webhooks/github` });
    return {
      github,
      cluster: connectKubeControl(simulatedCluster.url),
      clusterUrl: simulatedCluster.url,
      postgres,
      processes: [ingress, ...others, simulatedGitHub, simulatedCluster],
      broken: broken.promise,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** JSON is YAML. */
async function writeConfig(
  folder: string,
  apiUrl: string,
  names?: readonly string[],
): Promise<string> {
  const file = join(folder, 'paddock.yaml');
  const apps = [
    { id: APP_ID, webhookSecret: { env: 'WEBHOOK_SECRET' }, privateKey: { env: 'APP_KEY' } },
  ];
  const pool = { name: 'linux-x64', labels: LABELS, image: 'runner:1', namespace: NAMESPACE };
  const pools = names?.map((name) =>
    Object.assign({}, pool, { name, labels: ['self-hosted', name] }),
  ) ?? [pool];
  await writeFile(
    file,
    JSON.stringify({ github: { apiUrl, apps }, pools, entities: { '*': { maxWorkers: null } } }),
  );
  return file;
}
