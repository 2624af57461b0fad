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
import { appProgram, simulatorProgram } from '../programs.ts';
import { untilReady } from '../until-ready.ts';

export const APP_ID = 7;
export const LABELS = ['self-hosted', 'linux', 'x64'];
export const SCHEMA = 'paddock';
const NAMESPACE = 'runners';
const WEBHOOK_SECRET = 'a webhook secret for measuring';

export interface System {
  readonly github: GitHubControl;
  readonly cluster: RemoteKubeControl;
  readonly clusterUrl: string;
  readonly postgres: Postgres;
  /** All of them but PostgreSQL. */
  readonly processes: readonly { readonly name: string; readonly pid: number }[];
  /** Rejects when a service ends by itself; never resolves. */
  readonly broken: Promise<never>;
  close(): Promise<void>;
}

/**
 * PostgreSQL with default durability, the simulated GitHub and cluster, ingress and one scheduler, each a process of its own. Their settings
 * are the defaults.
 */
export async function startSystem(): Promise<System> {
  const undo: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0)) await step();
  };
  let isClosing = false;
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => undefined); // raced against by whoever measures
  const start = async (name: string, program: string, { args = [], env = {} }: { args?: string[]; env?: Record<string, string> }) => {
    const { pid, port, healthPort, exited, kill, lines } = await startProgram({ program, args, env: { NODE_ENV: 'production', ...env } });
    undo.unshift(async () => {
      isClosing = true;
      kill('SIGTERM');
      await exited;
    });
    const failIfTooEarly = (): void => {
      if (!isClosing) broken.reject(new Error(`The ${name} ended by itself:\n${lines().slice(-20).join('\n')}`));
    };
    void exited.then(failIfTooEarly);
    if (port === undefined) throw new Error(`The ${name} did not say where it listens.`);
    return { name, pid, healthPort, url: `http://127.0.0.1:${port}` };
  };

  try {
    const postgres = await startPostgres({ durable: true, settings: { shared_preload_libraries: 'pg_stat_statements' } });
    undo.unshift(() => postgres.stop());
    const folder = await makeTemporaryFolder(tmpdir());
    undo.unshift(() => removeFolder(folder));
    await migrate({ url: postgres.url(), schema: SCHEMA });

    const { privateKeyPem, publicKeyPem } = createAppKey();
    const githubOptions = { apps: [{ appId: APP_ID, publicKeyPem, webhookSecret: WEBHOOK_SECRET }] };
    const simulatedGitHub = await start('simulated GitHub', simulatorProgram('simulate-github'), { args: [JSON.stringify(githubOptions)] });
    const kubeconfigFile = join(folder, 'kubeconfig');
    // Did the runners run jobs, it would not be known which worker was made for which job, and the simulators would do most of the work.
    const clusterOptions = { namespaces: [NAMESPACE], kubeconfigFile, idleRunners: true };
    const simulatedCluster = await start('simulated cluster', simulatorProgram('simulate-cluster'), {
      args: [JSON.stringify(clusterOptions)],
    });

    const env = {
      DATABASE_URL: postgres.url(),
      PADDOCK_SCHEMA: SCHEMA,
      PADDOCK_CONFIG: await writeConfig(folder, simulatedGitHub.url),
      PADDOCK_KUBECONFIG: kubeconfigFile,
      PADDOCK_HTTP_HOST: '127.0.0.1',
      PADDOCK_INGRESS_HTTP_PORT: '0',
      PADDOCK_INGRESS_HEALTH_PORT: '0',
      PADDOCK_SCHEDULER_HTTP_PORT: '0',
      WEBHOOK_SECRET,
      APP_KEY: privateKeyPem,
    };
    const ingress = await start('ingress', appProgram('ingress'), { env });
    const scheduler = await start('scheduler', appProgram('scheduler'), { env });
    for (const { healthPort } of [ingress, scheduler]) await untilReady(healthPort);
    const github = connectGitHubSimulator(simulatedGitHub.url);
    await github.setApp(APP_ID, { webhookUrl: `${ingress.url}/webhooks/github` });
    return {
      github,
      cluster: connectKubeControl(simulatedCluster.url),
      clusterUrl: simulatedCluster.url,
      postgres,
      processes: [ingress, scheduler, simulatedGitHub, simulatedCluster],
      broken: broken.promise,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** JSON is YAML. */
async function writeConfig(folder: string, apiUrl: string): Promise<string> {
  const file = join(folder, 'paddock.yaml');
  const apps = [{ id: APP_ID, webhookSecret: { env: 'WEBHOOK_SECRET' }, privateKey: { env: 'APP_KEY' } }];
  const pools = [{ name: 'linux-x64', labels: LABELS, image: 'runner:1', namespace: NAMESPACE }];
  await writeFile(file, JSON.stringify({ github: { apiUrl, apps }, pools, entities: { '*': { maxWorkers: null } } }));
  return file;
}
