import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Postgres } from '@paddock/embedded-postgres/start-postgres';
import { makeTemporaryFolder, removeFolder } from '@paddock/embedded-postgres/temporary-folder';
import { createAppKey } from '@paddock/simulators/github/app-key';
import type { GitHubControl } from '@paddock/simulators/github/control';
import type { RemoteKubeControl } from '@paddock/simulators/kube/kube-control';
import { connectControl } from '@paddock/simulators/remote-control';
import { seededRandom } from '@paddock/simulators/random';
import { startTunnel } from '@paddock/testing/tunnel';
import { onPostgres, APP_ID } from '../bench.ts';
import {
  COUNT_BY,
  createEnvironment,
  type Environment,
  type Ways,
  NAMESPACE,
  OWN_NAMESPACE,
  WEBHOOK_SECRET,
} from './environment.ts';
import { createService } from './service.ts';

type Undo = (() => Promise<unknown>)[];

export type Stage = Awaited<ReturnType<typeof startStage>>;

export interface StageOptions extends Ways {
  /** How many of our environments; one by default. */
  readonly environments?: number | undefined;
  readonly isTunnelled?: true | undefined;
  /** The runners start and never connect to GitHub. */
  readonly idleRunners?: true;
  /** Fills the simulated GitHub before any service calls it. */
  readonly furnish?: (github: GitHubControl, appIds: readonly number[]) => Promise<void>;
}

const SIMULATORS = join(import.meta.dirname, '../../../packages/simulators/src/programs');
/** The seed of all random choices. */
const SEED = 1;
/**
 * Half of the wait that GitHub names: when several rows run side by side, each process gets little
 * of the machine.
 */
const ON_ITS_WAY_MS = 1_000;

/** Works on a stage of its own, on a PostgreSQL that has nothing else. */
export const onStage = <T>(
  settings: Parameters<typeof onPostgres>[0],
  options: StageOptions,
  work: (stage: Stage) => Promise<T>,
): Promise<T> =>
  onPostgres(settings, async (postgres) => {
    const undo: Undo = [];
    try {
      return await work(await startStage(postgres, options, undo));
    } finally {
      for (const step of undo.toReversed()) await step();
    }
  });

/**
 * GitHub, a cluster and PostgreSQL, and one or several of our environments, all of them processes.
 */
async function startStage(postgres: Postgres, options: StageOptions, undo: Undo) {
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => undefined); // the run awaits it later
  const onEnd = broken.reject;
  const startSimulator = async (name: string, args: object): Promise<string> => {
    let url = '';
    const simulator = createService({
      name: `simulated ${name}`,
      program: join(SIMULATORS, `simulate-${name}.ts`),
      args: [JSON.stringify({ seed: SEED, ...args })],
      onStart: (started) => void (url = started),
      onEnd,
    });
    undo.push(simulator.close);
    await simulator.start();
    return url;
  };
  const folder = await makeTemporaryFolder(tmpdir());
  undo.push(() => removeFolder(folder));
  const databaseUrl = postgres.url();
  const tunnel = options.isTunnelled === true ? await startTunnel(databaseUrl) : undefined;
  if (tunnel !== undefined) undo.push(tunnel.cut);
  const apps = Array.from({ length: options.environments ?? 1 }, (_, index) => ({
    appId: APP_ID + index,
    webhookSecret: WEBHOOK_SECRET,
    ...createAppKey(),
  }));
  const githubUrl = await startSimulator('github', { apps, onItsWayMs: ON_ITS_WAY_MS });
  const kubeconfigFile = join(folder, 'kubeconfig');
  const clusterUrl = await startSimulator('cluster', {
    namespaces: [NAMESPACE, OWN_NAMESPACE],
    kubeconfigFile,
    countBy: COUNT_BY,
    idleRunners: options.idleRunners,
  });
  const github = connectControl<GitHubControl>(githubUrl);
  await options.furnish?.(
    github,
    apps.map(({ appId }) => appId),
  );
  const servicesDatabaseUrl = tunnel?.url ?? databaseUrl;
  const place = {
    databaseUrl,
    servicesDatabaseUrl,
    github,
    githubUrl,
    kubeconfigFile,
    folder,
    onEnd,
  };
  const environments: Environment[] = [];
  for (const app of apps) {
    const schema = `environment_${app.appId}`;
    const environment = await createEnvironment(place, { ...options, ...app, schema });
    undo.push(environment.close);
    environments.push(environment);
    await Promise.all(environment.services.map(({ start }) => start()));
  }
  const [environment] = environments;
  if (environment === undefined) throw new Error('A stage has one environment at least.');
  return {
    github,
    cluster: connectControl<RemoteKubeControl>(clusterUrl),
    postgres,
    /** Between the services and PostgreSQL, if the fault needs one. */
    tunnel,
    environments,
    /** The first of them, and mostly the only one. */
    environment,
    /** Uniform in [0, 1), the same in every run. */
    random: seededRandom(SEED),
    /** Rejects when one of the processes ends by itself; never resolves. */
    broken: broken.promise,
  };
}
