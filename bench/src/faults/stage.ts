import type { RuleValues } from '@paddock/runtime/rules';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Postgres } from '@paddock/embedded-postgres/start-postgres';
import { makeTemporaryFolder, removeFolder } from '@paddock/embedded-postgres/temporary-folder';
import { createAppKey } from '@paddock/simulators/github/app-key';
import type { GitHubControl } from '@paddock/simulators/github/control';
import { connectGitHubSimulator } from '@paddock/simulators/github/control-client';
import { connectKubeControl } from '@paddock/simulators/kube/control-client';
import type { RemoteKubeControl } from '@paddock/simulators/kube/kube-control';
import { seededRandom } from '@paddock/simulators/seeded-random';
import { startTunnel, type Tunnel } from '@paddock/testing/tunnel';
import pg from 'pg';
import { simulatorProgram } from '../programs.ts';
import { COUNT_BY } from './caps.ts';
import {
  createEnvironment,
  type Environment,
  NAMESPACE,
  OWN_NAMESPACE,
  WEBHOOK_SECRET,
} from './environment.ts';
import { createService } from './service.ts';
import type { Times } from './times.ts';

/** Two repositories of a user, each with separate runners. */
export const DOTFILES = 'mona/dotfiles';
export const GARDEN = 'mona/garden';
/** Repositories of an organisation, which share their runners, and those of the user. */
export const REPOSITORIES = ['acme/shop', 'acme/site', 'acme/shop', DOTFILES, GARDEN] as const;
/** Has one job at most; no other job can make a runner for it. */
export const LONE_REPOSITORY = 'mona/garage';
export const LONE_REPOSITORY_ID = 44_000;
/** The organisation that a fault hits while others go on. */
export const UMBRA = 'umbra';
export const UMBRA_REPOSITORIES = ['umbra/core', 'umbra/web', 'umbra/docs'] as const;
export const UMBRA_INSTALLATION = 66_000;
const FIRST_APP = 7;

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
  /** Uniform in [0, 1), from the stage's seed. */
  readonly random: () => number;
  /** Rejects when one of the processes ends by itself; never resolves. */
  readonly broken: Promise<never>;
  close(): Promise<void>;
}

export interface StageOptions {
  /** How many of our environments; one by default. */
  readonly environments?: number | undefined;
  readonly isTunnelled?: true | undefined;
  readonly times: Times;
  /** The organisation that a fault hits is there. */
  readonly hit?: unknown;
  /** Sweeps to pause; none by default. */
  readonly heldSweeps?: readonly string[] | undefined;
  /** Settings of the services that differ from these. */
  readonly rules?: RuleValues | undefined;
  /** The seed of the faults' random choices. */
  readonly seed?: number | undefined;
}

/**
 * Half of the wait that GitHub names: when several rows run side by side, each process gets little
 * of the machine.
 */
const ON_ITS_WAY_MS = 1_000;

/** Starts everything, in a new database on this PostgreSQL. */
export async function startStage(postgres: Postgres, options: StageOptions): Promise<Stage> {
  const {
    environments: environmentCount = 1,
    seed = 1,
    times,
    rules = {},
    heldSweeps = [],
  } = options;
  const undo: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => undefined); // the run awaits it later
  const onEnd = broken.reject;
  try {
    const folder = await makeTemporaryFolder(tmpdir());
    undo.push(() => removeFolder(folder));
    const databaseUrl = await createDatabase(postgres);
    const tunnel = options.isTunnelled === true ? await startTunnel(databaseUrl) : undefined;
    if (tunnel !== undefined) undo.push(tunnel.cut);
    const keys = Array.from({ length: environmentCount }, (_, index) => ({
      appId: FIRST_APP + index,
      ...createAppKey(),
    }));
    const apps = keys.map(({ appId, publicKeyPem }) => ({
      appId,
      publicKeyPem,
      webhookSecret: WEBHOOK_SECRET,
    }));

    let githubUrl = '';
    let clusterUrl = '';
    const kubeconfigFile = join(folder, 'kubeconfig');
    const simulatedGitHub = createService({
      name: 'simulated GitHub',
      program: simulatorProgram('simulate-github'),
      args: [JSON.stringify({ apps, seed, onItsWayMs: ON_ITS_WAY_MS })],
      onStart: (url) => void (githubUrl = url),
      onEnd,
    });
    const simulatedCluster = createService({
      name: 'simulated cluster',
      program: simulatorProgram('simulate-cluster'),
      args: [
        JSON.stringify({
          namespaces: [NAMESPACE, OWN_NAMESPACE],
          kubeconfigFile,
          seed,
          countBy: COUNT_BY,
        }),
      ],
      onStart: (url) => void (clusterUrl = url),
      onEnd,
    });
    for (const simulator of [simulatedGitHub, simulatedCluster]) {
      undo.push(simulator.close);
      await simulator.start();
    }
    const github = connectGitHubSimulator(githubUrl);
    await furnish(github, apps);
    if (options.hit !== undefined) await furnishUmbra(github, apps);

    const environments: Environment[] = [];
    for (const [index, { appId, privateKeyPem }] of keys.entries()) {
      const schema = `environment_${index + 1}`;
      const place = {
        schema,
        appId,
        privateKeyPem,
        databaseUrl,
        servicesDatabaseUrl: tunnel?.url ?? databaseUrl,
        github,
        githubUrl,
        kubeconfigFile,
        folder,
        times: { ...times, rules: [...times.rules, rules] },
        heldSweeps,
        onEnd,
      };
      const environment = await createEnvironment(place);
      undo.push(environment.close);
      environments.push(environment);
      await Promise.all(environment.services.map(({ start }) => start()));
    }
    return {
      github,
      cluster: connectKubeControl(clusterUrl),
      postgres,
      tunnel,
      environments,
      random: seededRandom(seed),
      broken: broken.promise,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

let lastDatabase = 0;

async function createDatabase(postgres: Postgres): Promise<string> {
  const name = `faults_${++lastDatabase}`;
  const client = new pg.Client({ connectionString: postgres.url() });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return postgres.url(name);
}

async function furnish(github: GitHubControl, apps: readonly { appId: number }[]): Promise<void> {
  await github.addOrganization({ login: 'acme' });
  await github.addUser({ login: 'mona' });
  for (const repository of new Set([...REPOSITORIES, LONE_REPOSITORY])) {
    const [owner = '', name = ''] = repository.split('/');
    await github.addRepository({
      owner,
      name,
      private: true,
      ...(repository === LONE_REPOSITORY ? { id: LONE_REPOSITORY_ID } : {}),
    });
  }
  for (const { appId } of apps) {
    for (const entity of ['acme', 'mona'])
      await github.install({ appId, account: entity, announce: false });
  }
}

async function furnishUmbra(
  github: GitHubControl,
  apps: readonly { appId: number }[],
): Promise<void> {
  await github.addOrganization({ login: UMBRA });
  for (const repository of UMBRA_REPOSITORIES)
    await github.addRepository({ owner: UMBRA, name: repository.slice(UMBRA.length + 1) });
  for (const [index, { appId }] of apps.entries()) {
    const id = UMBRA_INSTALLATION + index;
    await github.install({ appId, account: UMBRA, id, announce: false });
  }
}
