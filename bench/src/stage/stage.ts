import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Postgres } from '@paddock/embedded-postgres/start-postgres';
import { makeTemporaryFolder, removeFolder } from '@paddock/embedded-postgres/temporary-folder';
import type { RuleValues } from '@paddock/runtime/rules';
import { createAppKey } from '@paddock/simulators/github/app-key';
import type { GitHubControl } from '@paddock/simulators/github/control';
import type { RemoteKubeControl } from '@paddock/simulators/kube/kube-control';
import { connectControl } from '@paddock/simulators/remote-control';
import { seededRandom } from '@paddock/simulators/random';
import { startTunnel, type Tunnel } from '@paddock/testing/tunnel';
import { APP_ID, simulatorProgram } from '../programs.ts';
import {
  COUNT_BY,
  createEnvironment,
  type Environment,
  NAMESPACE,
  OWN_NAMESPACE,
  WEBHOOK_SECRET,
} from './environment.ts';
import { createService } from './service.ts';
import type { Times } from './times.ts';

/**
 * GitHub, a cluster and PostgreSQL, and one or several of our environments, all of them processes.
 */
export interface Stage {
  readonly github: GitHubControl;
  readonly cluster: RemoteKubeControl;
  readonly postgres: Postgres;
  /** Between the services and PostgreSQL, if the fault needs one. */
  readonly tunnel: Tunnel | undefined;
  readonly environments: readonly Environment[];
  /** Uniform in [0, 1), the same in every run. */
  readonly random: () => number;
  /** Rejects when one of the processes ends by itself; never resolves. */
  readonly broken: Promise<never>;
  close(): Promise<void>;
}

export interface StageOptions {
  readonly times: Times;
  /** How many of our environments; one by default. */
  readonly environments?: number | undefined;
  readonly isTunnelled?: true | undefined;
  /** The runners start and never connect to GitHub. */
  readonly idleRunners?: true;
  /** The services run without a reconciler. */
  readonly withoutReconciler?: true;
  /** Sweeps to pause; none by default. */
  readonly heldSweeps?: readonly string[] | undefined;
  /** Rules of the services that differ from the times' own. */
  readonly rules?: RuleValues | undefined;
  /** Fills the simulated GitHub before any service calls it. */
  readonly furnish?: (github: GitHubControl, appIds: readonly number[]) => Promise<void>;
}

/** The seed of all random choices. */
const SEED = 1;
/**
 * Half of the wait that GitHub names: when several rows run side by side, each process gets little
 * of the machine.
 */
const ON_ITS_WAY_MS = 1_000;

/** Starts everything on this PostgreSQL, which has nothing else. */
export async function startStage(postgres: Postgres, options: StageOptions): Promise<Stage> {
  const { times, rules = {} } = options;
  const undo: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => undefined); // the run awaits it later
  const onEnd = broken.reject;
  const startSimulator = async (name: string, args: object): Promise<string> => {
    let url = '';
    const simulator = createService({
      name: `simulated ${name}`,
      program: simulatorProgram(`simulate-${name}`),
      args: [JSON.stringify({ seed: SEED, ...args })],
      onStart: (started) => void (url = started),
      onEnd,
    });
    undo.push(simulator.close);
    await simulator.start();
    return url;
  };
  try {
    const folder = await makeTemporaryFolder(tmpdir());
    undo.push(() => removeFolder(folder));
    const databaseUrl = postgres.url();
    const tunnel = options.isTunnelled === true ? await startTunnel(databaseUrl) : undefined;
    if (tunnel !== undefined) undo.push(tunnel.cut);
    const keys = Array.from({ length: options.environments ?? 1 }, (_, index) => ({
      appId: APP_ID + index,
      ...createAppKey(),
    }));
    const githubUrl = await startSimulator('github', {
      apps: keys.map(({ appId, publicKeyPem }) => ({
        appId,
        publicKeyPem,
        webhookSecret: WEBHOOK_SECRET,
      })),
      onItsWayMs: ON_ITS_WAY_MS,
    });
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
      keys.map(({ appId }) => appId),
    );
    const environments: Environment[] = [];
    for (const [index, { appId, privateKeyPem }] of keys.entries()) {
      const environment = await createEnvironment({
        schema: `environment_${index + 1}`,
        appId,
        privateKeyPem,
        databaseUrl,
        servicesDatabaseUrl: tunnel?.url ?? databaseUrl,
        github,
        githubUrl,
        kubeconfigFile,
        folder,
        times: { ...times, rules: [...times.rules, rules] },
        heldSweeps: options.heldSweeps ?? [],
        hasReconciler: options.withoutReconciler !== true,
        onEnd,
      });
      undo.push(environment.close);
      environments.push(environment);
      await Promise.all(environment.services.map(({ start }) => start()));
    }
    return {
      github,
      cluster: connectControl<RemoteKubeControl>(clusterUrl),
      postgres,
      tunnel,
      environments,
      random: seededRandom(SEED),
      broken: broken.promise,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
