import { type RuleValues, rulesVariable } from '@paddock/runtime/rules';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectDatabase } from '@paddock/db/connection/connect';
import { migrate } from '@paddock/db/migrate';
import { setSwitch } from '@paddock/db/switches';
import { findInstance } from '@paddock/db/instance';
import type { KubeReport } from '@paddock/simulators/kube/kube-report';
import type { GitHubControl } from '@paddock/simulators/github/control';
import { appProgram, LOCAL } from '@paddock/testing/processes';
import { createService } from './service.ts';
import type { Caps, Times } from './times.ts';

const INSTANCE = 'paddock.dev/instance';
const POOL = 'paddock.dev/pool';
const ENTITY = 'paddock.dev/entity-id';
/** The labels by which the simulated cluster counts pods, for the caps of pools and of entities. */
export const COUNT_BY = [
  [INSTANCE, POOL],
  [INSTANCE, ENTITY],
] as const;

/**
 * The most pods that an environment had at one moment: of its pool, and of the entity with the
 * most.
 */
export async function mostActiveOf(
  { db }: Environment,
  { mostActivePodsBy }: KubeReport,
): Promise<Caps> {
  const ours = `${INSTANCE}=${await findInstance(db)},`;
  const most = (label: string): number =>
    Object.entries(mostActivePodsBy).reduce(
      (max, [group, pods]) => (group.startsWith(`${ours}${label}=`) ? Math.max(max, pods) : max),
      0,
    );
  return { pool: most(POOL), entity: most(ENTITY) };
}

export const NAMESPACE = 'runners';
/** Of a pool that only one entity's jobs ask for, in the rows that hit one entity. */
export const OWN_NAMESPACE = 'walled';
export const WEBHOOK_SECRET = 'a webhook secret for measuring';

export type Environment = Awaited<ReturnType<typeof createEnvironment>>;

/** How the services of a stage run. */
export interface Ways {
  readonly times: Times;
  /** Rules of the services that differ from the times' own. */
  readonly rules?: RuleValues | undefined;
  /** Sweeps to pause; none by default. */
  readonly heldSweeps?: readonly string[] | undefined;
  /** Only ingress and scheduler run. */
  readonly withoutReconciler?: true;
}

interface EnvironmentOptions extends Ways {
  readonly schema: string;
  readonly appId: number;
  readonly privateKeyPem: string;
}

/** What the environments of a stage share. */
export interface Place {
  readonly databaseUrl: string;
  /** The URL by which services reach PostgreSQL. */
  readonly servicesDatabaseUrl: string;
  readonly github: GitHubControl;
  readonly githubUrl: string;
  readonly kubeconfigFile: string;
  readonly folder: string;
  readonly onEnd: (error: Error) => void;
}

/**
 * One set of our services, with a schema, an App and a label that no other set has. They are not
 * started.
 */
export async function createEnvironment(place: Place, options: EnvironmentOptions) {
  const { databaseUrl: url, github, onEnd } = place;
  const { schema, appId, times } = options;
  await migrate({ url, schema });
  const connection = connectDatabase({ url, schema, poolSize: 2, applicationName: 'bench' });
  for (const sweep of options.heldSweeps ?? []) await setSwitch(connection.db, sweep, 'the bench');
  const labels = ['self-hosted', schema];
  const ownLabels = ['self-hosted', `${schema}-${OWN_NAMESPACE}`];
  const env = {
    DATABASE_URL: place.servicesDatabaseUrl,
    PADDOCK_SCHEMA: schema,
    PADDOCK_CONFIG: await writeConfig(place, options, [labels, ownLabels]),
    PADDOCK_KUBECONFIG: place.kubeconfigFile,
    WEBHOOK_SECRET,
    APP_KEY: options.privateKeyPem,
    ...times.settings,
    ...rulesVariable(...times.rules, options.rules ?? {}),
    ...LOCAL,
  };
  const service = (app: string, onStart: (url: string) => Promise<void> | void = () => undefined) =>
    createService({ name: `${app} of ${schema}`, program: appProgram(app), env, onStart, onEnd });
  const ingress = service('ingress', (address) =>
    github.setApp(appId, { webhookUrl: `${address}/webhooks/github` }),
  );
  const scheduler = service('scheduler');
  const services = [ingress, scheduler];
  if (options.withoutReconciler !== true) services.push(service('reconciler'));
  return {
    schema,
    appId,
    /** The label of every job that this environment must run. */
    labels,
    /** The same, of a pool of its own. */
    ownLabels,
    db: connection.db,
    caps: times.caps,
    ingress,
    scheduler,
    services,
    async close(): Promise<void> {
      await Promise.all(services.map((each) => each.close()));
      await connection.close();
    },
  };
}

/** Few jobs fill it, and many run through it within a minute. */
export const OWN_CAP = 6;

async function writeConfig(
  { folder, githubUrl }: Place,
  { schema, appId, times }: EnvironmentOptions,
  [labels, ownLabels]: readonly (readonly string[])[],
): Promise<string> {
  const file = join(folder, `${schema}.yaml`);
  const app = {
    id: appId,
    webhookSecret: { env: 'WEBHOOK_SECRET' },
    privateKey: { env: 'APP_KEY' },
  };
  const pool = { image: 'runner:1', maxWorkers: times.caps.pool, ...times.deadlines };
  const own = { name: OWN_NAMESPACE, namespace: OWN_NAMESPACE, maxWorkers: OWN_CAP };
  const config = {
    github: { apiUrl: githubUrl, apps: [app] },
    pools: [
      { ...pool, name: 'linux', labels, namespace: NAMESPACE },
      { ...pool, labels: ownLabels, ...own },
    ],
    entities: { '*': { maxWorkers: times.caps.entity } },
  };
  // JSON is YAML.
  await writeFile(file, JSON.stringify(config));
  return file;
}
