import { rulesVariable } from '@paddock/runtime/rules';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectDatabase } from '@paddock/db/connection/connect';
import { migrate } from '@paddock/db/migrate';
import type { Database } from '@paddock/db/schema/tables';
import { setSwitch } from '@paddock/db/switches';
import { findInstance } from '@paddock/db/instance';
import type { KubeReport } from '@paddock/simulators/kube/kube-report';
import type { GitHubControl } from '@paddock/simulators/github/control';
import type { Kysely } from 'kysely';
import { appProgram } from '../programs.ts';
import { createService, type Service } from './service.ts';
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

/** One set of our services, with a schema, an App and a label that no other set has. */
export interface Environment {
  readonly schema: string;
  readonly appId: number;
  /** The label of every job that this environment must run. */
  readonly labels: readonly string[];
  /** The same, of a pool of its own. */
  readonly ownLabels: readonly string[];
  readonly db: Kysely<Database>;
  readonly caps: Caps;
  readonly ingress: Service;
  readonly scheduler: Service;
  readonly services: readonly Service[];
  close(): Promise<void>;
}

export interface EnvironmentOptions {
  readonly schema: string;
  readonly appId: number;
  readonly privateKeyPem: string;
  readonly databaseUrl: string;
  /** The URL by which its services reach PostgreSQL. */
  readonly servicesDatabaseUrl: string;
  readonly github: GitHubControl;
  readonly githubUrl: string;
  readonly kubeconfigFile: string;
  readonly folder: string;
  readonly times: Times;
  readonly heldSweeps: readonly string[];
  /** Beside ingress and scheduler. */
  readonly hasReconciler: boolean;
  readonly onEnd: (error: Error) => void;
}

/** Makes an environment without starting its services. */
export async function createEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const { schema, appId, databaseUrl, github, onEnd } = options;
  await migrate({ url: databaseUrl, schema });
  const connection = connectDatabase({
    url: databaseUrl,
    schema,
    poolSize: 2,
    applicationName: 'bench',
  });
  for (const sweep of options.heldSweeps) await setSwitch(connection.db, sweep, 'the bench');
  const labels = ['self-hosted', schema];
  const ownLabels = ['self-hosted', `${schema}-${OWN_NAMESPACE}`];
  const env = {
    DATABASE_URL: options.servicesDatabaseUrl,
    PADDOCK_SCHEMA: schema,
    PADDOCK_CONFIG: await writeConfig(options, labels, ownLabels),
    PADDOCK_KUBECONFIG: options.kubeconfigFile,
    PADDOCK_HTTP_HOST: '127.0.0.1',
    PADDOCK_PUBLIC_PORT: '0',
    PADDOCK_HEALTH_PORT: '0',
    WEBHOOK_SECRET,
    APP_KEY: options.privateKeyPem,
    ...options.times.settings,
    ...rulesVariable(...options.times.rules),
  };
  const service = (app: string, onStart: (url: string) => Promise<void> | void = () => undefined) =>
    createService({ name: `${app} of ${schema}`, program: appProgram(app), env, onStart, onEnd });
  const ingress = service('ingress', (url) =>
    github.setApp(appId, { webhookUrl: `${url}/webhooks/github` }),
  );
  const scheduler = service('scheduler');
  const services = [ingress, scheduler, ...(options.hasReconciler ? [service('reconciler')] : [])];
  return {
    schema,
    appId,
    labels,
    ownLabels,
    db: connection.db,
    caps: options.times.caps,
    ingress,
    scheduler,
    services,
    async close() {
      await Promise.all(services.map((each) => each.close()));
      await connection.close();
    },
  };
}

/** Few jobs fill it, and many run through it within a minute. */
export const OWN_CAP = 6;

/** JSON is YAML. */
async function writeConfig(
  { folder, schema, appId, githubUrl, times }: EnvironmentOptions,
  labels: readonly string[],
  ownLabels: readonly string[],
): Promise<string> {
  const file = join(folder, `${schema}.yaml`);
  const apps = [
    { id: appId, webhookSecret: { env: 'WEBHOOK_SECRET' }, privateKey: { env: 'APP_KEY' } },
  ];
  const pool = { image: 'runner:1', maxWorkers: times.caps.pool, ...times.deadlines };
  const pools = [
    { ...pool, name: 'linux', labels, namespace: NAMESPACE },
    {
      ...pool,
      name: OWN_NAMESPACE,
      labels: ownLabels,
      namespace: OWN_NAMESPACE,
      maxWorkers: OWN_CAP,
    },
  ];
  await writeFile(
    file,
    JSON.stringify({
      github: { apiUrl: githubUrl, apps },
      pools,
      entities: { '*': { maxWorkers: times.caps.entity } },
    }),
  );
  return file;
}
