import { rulesVariable } from '@paddock/runtime/rules';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from '@paddock/db/connection/schema-name';
import { migrate } from '@paddock/db/migrate';
import { type Program, startProgram, untilReady } from '@paddock/processes/start-program';
import type { GitHubControl } from '@paddock/simulators/github/control';
import { connectControl } from '@paddock/simulators/remote-control';
import type { RemoteKubeControl } from '@paddock/simulators/kube/kube-control';
import type { DemoConfig, DemoFolder } from './prepare-folder.ts';
import type { Platform } from './scenario.ts';

const SIMULATED = {
  github: fileURLToPath(import.meta.resolve('@paddock/simulators/programs/simulate-github')),
  cluster: fileURLToPath(import.meta.resolve('@paddock/simulators/programs/simulate-cluster')),
};

/** For a demo that ends within a minute. */
const TIMES = {
  reconciler: {
    redeliveryEverySeconds: 2,
    redeliverySpacingMs: 2_000,
    // Longer: the demo loses no job that only discovery would find, and discovery's calls would
    // count in the summary of a few seconds.
    discoverJobsEverySeconds: 3_600,
  },
  scheduler: { unexplainedGraceMs: 15_000, matchTickMs: 1_000 },
  // The simulated GitHub has no secondary limits.
  db: { registrationsPerMinute: 1_000_000 },
};

/**
 * The same for failing pods: the services give them up soon, after short waits between their
 * proofs.
 */
export const TIMES_OF_FAILURES = {
  reconciler: {
    checkWorkersEverySeconds: 2,
    // To GitHub, a registration whose pod has failed looks like a runner that is still to come.
    registrationsEverySeconds: 2,
    registrationGraceMs: 0,
  },
  scheduler: {
    stopIdleApartMs: 1_000,
    stopLastLookMs: 1_000,
    // Long enough to be seen on the tour, also on a busy machine.
    stopOfflineMs: 10_000,
    stopRetryMs: 1_000,
  },
  db: { failingPauseMs: 2_000, failingLongestPauseMs: 4_000 },
};

export interface System {
  github: GitHubControl;
  cluster: RemoteKubeControl;
  /** Writes the configuration file with other pools or entities. */
  configure(change: (config: DemoConfig) => Partial<DemoConfig>): void;
  /** Addresses to show while the demo stays up. */
  addresses: Record<string, string>;
  /** Rejects with its last lines when one of the processes ends too early; never resolves. */
  broken: Promise<never>;
}

export interface SystemOptions {
  folder: DemoFolder;
  databaseUrl: string;
  schema: string;
  platform: Platform;
  /** A real cluster to use instead of the simulated one. */
  kubeconfigFile: string | undefined;
  path: string | undefined;
  programOf: (service: ServiceName) => string;
  seed: number;
  /** Starts the console too. */
  console: boolean;
  /** Gets the function that ends what was started, also if the rest does not start. */
  undo: (() => Promise<void>)[];
}

interface StartedProcess {
  name: string;
  program: Program;
}

/** Starts everything as separate processes, in the order in which each needs the other. */
export async function startSystem({
  folder,
  databaseUrl,
  schema,
  platform,
  kubeconfigFile: realCluster,
  path,
  programOf,
  seed,
  console,
  undo,
}: SystemOptions): Promise<System> {
  const started: StartedProcess[] = [];
  let stopping = false;
  // The services, then the servers that they talk to.
  undo.unshift(async () => {
    stopping = true;
    for (const { program } of started) {
      program.kill('SIGTERM');
      await program.exited;
    }
  });
  const addresses: Record<string, string> = {};
  const start = async (
    name: string,
    program: string,
    args: readonly object[],
    env: Record<string, string>,
  ): Promise<string> => {
    const running = await startProgram({
      program,
      args: args.map((one) => JSON.stringify(one)),
      env: { ...(path === undefined ? {} : { PATH: path }), ...env },
    });
    started.unshift({ name, program: running });
    await untilReady(running.healthPort);
    if (running.healthPort !== running.port)
      addresses[`health of ${name}`] = `http://127.0.0.1:${running.healthPort}`;
    return (addresses[name] = `http://127.0.0.1:${running.port}`);
  };

  await migrate({ url: databaseUrl, schema });
  const apiUrl = await start('GitHub', SIMULATED.github, [{ apps: folder.apps, seed }], {});
  const github = connectControl<GitHubControl>(apiUrl);
  const kubeconfigFile = join(folder.path, 'kubeconfig');
  const { namespaces, appIds, pools, entities } = platform;
  const cluster = connectControl<RemoteKubeControl>(
    await start('cluster', SIMULATED.cluster, [{ namespaces, kubeconfigFile }], {}),
  );
  let config: DemoConfig = { apiUrl, appIds, pools, entities };
  const common = {
    DATABASE_URL: databaseUrl,
    PADDOCK_SCHEMA: schema,
    PADDOCK_HTTP_HOST: '127.0.0.1',
    PADDOCK_PUBLIC_PORT: '0',
    PADDOCK_HEALTH_PORT: '0',
  };
  const env = {
    ...common,
    PADDOCK_CONFIG: folder.writeConfig('paddock.yaml', config),
    PADDOCK_KUBECONFIG: realCluster ?? kubeconfigFile,
    ...rulesVariable(TIMES, realCluster === undefined ? {} : TIMES_OF_FAILURES, ...platform.rules),
    ...folder.secrets,
  };
  const appsOfIngress = [...appIds, ...platform.appsOfIngress];
  const ofIngress = folder.writeConfig('ingress.yaml', { ...config, appIds: appsOfIngress });
  // Ingress comes last: it accepts no delivery before the scheduler has loaded the pools.
  for (const service of ['scheduler', 'reconciler'] as const)
    await start(service, programOf(service), [], env);
  await start('ingress', programOf('ingress'), [], { ...env, PADDOCK_CONFIG: ofIngress });
  if (console) await start('console', programOf('console'), [], common);
  for (const { appId } of folder.apps)
    await github.setApp(appId, { webhookUrl: `${addresses['ingress']}/webhooks/github` });

  const allEnded = Promise.all(started.map((process) => watch(process, () => stopping)));
  const broken = allEnded.then(() => new Promise<never>(() => undefined));
  broken.catch(() => undefined); // the caller awaits it later
  return {
    github,
    cluster,
    configure(change) {
      config = { ...config, ...change(config) };
      folder.writeConfig('paddock.yaml', config);
    },
    addresses,
    broken,
  };
}

async function watch({ name, program }: StartedProcess, mayEnd: () => boolean): Promise<void> {
  const { code, signal } = await program.exited;
  if (!mayEnd())
    throw new Error(
      `${name} ended by itself (${signal ?? `exit code ${code}`}):\n${program.lines().slice(-20).join('\n')}`,
    );
}
