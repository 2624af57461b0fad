import { writeFileSync } from 'node:fs';
import { roleOf, SERVICES as SERVICES_OF_PADDOCK } from '@paddock/db/connection/schema-name';
import type { Level } from '@paddock/api/findings/findings';
import type { Installation } from './installation.scene.ts';

/** One way to break the installation, and what the doctor says. */
export interface Break {
  /** `mend` unless given. */
  readonly level?: Level;
  readonly environment?: (given: Installation['environment']) => Record<string, string | undefined>;
  readonly configure?: Parameters<Installation['configure']>[0];
  /** Keys of the section `github`. */
  readonly github?: object;
  readonly act?: (world: Installation) => unknown;
  readonly mend?: (world: Installation) => unknown;
  /** Statements of a superuser, and those that mend it. */
  readonly sql?: readonly [broken: string, mended: string];
  /** How far this machine's clock is ahead. */
  readonly aheadMs?: number;
}

/** By what is broken. */
export type Breaks = Readonly<Record<string, readonly [says: RegExp, how: Break]>>;

/** Another address of the database. */
export const url =
  (change: (url: URL) => unknown) => (given: { readonly DATABASE_URL: string }) => {
    const changed = new URL(given.DATABASE_URL);
    change(changed);
    return { DATABASE_URL: changed.href };
  };
const withOption = (name: string, value: string) =>
  url(({ searchParams }) => searchParams.set(name, value));

export const CONFIGURATION: Breaks = {
  'a file that is not there': [
    /file \/no\/such\/file cannot be read: .*ENOENT/,
    { environment: () => ({ PADDOCK_CONFIG: '/no/such/file' }) },
  ],
  'a pool with an unknown key': [
    /there is no key `maxWorker` here; did you mean `maxWorkers`\?/,
    {
      configure: ({ pools: [pool], ...rest }) => ({ ...rest, pools: [{ ...pool, maxWorker: 1 }] }),
    },
  ],
  'a file that is indented with tabs': [
    /line 2: Tabs are not allowed as indentation/,
    { act: ({ file }) => writeFileSync(file, 'github:\n\tapps: []\n') },
  ],
  'two pools of one name': [
    /pools\.1\.name: .*/,
    {
      configure: ({ pools: [pool], ...rest }) => ({
        ...rest,
        pools: [pool, { ...pool, labels: ['other'] }],
      }),
    },
  ],
  'nobody who may use it': [
    /name entities, or '\*' for all/,
    {
      level: 'remark',
      configure: ({ pools: [pool], ...rest }) => ({
        ...rest,
        pools: [{ ...pool, maxWorkers: null }],
        entities: {},
      }),
    },
  ],
  'a misspelt variable': [
    /PADDOCK_CONFIGS is not a setting: did you mean PADDOCK_CONFIG\?/,
    { environment: () => ({ PADDOCK_CONFIGS: 'x' }) },
  ],
  'no file': [
    /The configuration, GitHub and the cluster were not checked: PADDOCK_CONFIG is not set/,
    { level: 'unchecked', environment: () => ({ PADDOCK_CONFIG: undefined }) },
  ],
};

const revokeAll = (on: string) =>
  `revoke all on ${on} from ${SERVICES_OF_PADDOCK.map((service) => roleOf('paddock', service)).join(', ')}`;
const ofDatabase = (change: string) =>
  `do $$ begin execute format('alter database %I ${change}', current_database()); end $$`;

export const DATABASE: Breaks = {
  'a wrong password': [
    /refused the login.*Check the user and the password in DATABASE_URL/,
    { environment: url((to) => Object.assign(to, { username: 'nobody_of_that_name' })) },
  ],
  'no such host': [
    /cannot be reached: getaddrinfo \w+ no-such-host\.invalid\. Check DATABASE_URL/,
    { environment: url((to) => Object.assign(to, { hostname: 'no-such-host.invalid' })) },
  ],
  'a connection that may be unencrypted': [
    /may be unencrypted.*: write sslmode=verify-full into DATABASE_URL/,
    { level: 'remark', environment: url((to) => Object.assign(to, { hostname: '0.0.0.0' })) },
  ],
  'a port where nothing listens': [
    /cannot be reached: connect ECONNREFUSED.*that the server runs/,
    { environment: url((to) => Object.assign(to, { hostname: '127.0.0.1', port: '1' })) },
  ],
  'no such database': [
    /no such database: .* Create it, or correct DATABASE_URL/,
    { environment: url((to) => Object.assign(to, { pathname: '/of_no_such_name' })) },
  ],
  'a password without percent-encoding': [
    /write special characters of the user and the password in percent-encoding/,
    { environment: () => ({ DATABASE_URL: 'postgresql://me:a#b@127.0.0.1/paddock' }) },
  ],
  'several hosts': [
    /name one address that leads to the primary/,
    { environment: () => ({ DATABASE_URL: 'postgresql://me:b@one,two/paddock' }) },
  ],
  'a schema of no valid name': [
    /PADDOCK_SCHEMA must be a plain lower-case identifier/,
    { environment: () => ({ PADDOCK_SCHEMA: 'Prod' }) },
  ],
  'a root certificate that is not there': [
    /sslrootcert of the database URL cannot be read/,
    { environment: withOption('sslrootcert', '/no/such.pem') },
  ],
  'a server without TLS': [
    /encrypt the server, or leave sslmode out/,
    { environment: withOption('sslmode', 'require') },
  ],
  'a standby, or a database that is read-only': [
    /takes no writes: it is a standby, or set to read-only/,
    { environment: withOption('options', '-c default_transaction_read_only=on') },
  ],
  'another schema than that of the migration': [
    /schema elsewhere has no tables of Paddock: the migration has not run/,
    { environment: () => ({ PADDOCK_SCHEMA: 'elsewhere' }) },
  ],
  'a schema that is too old': [
    /is at version 0 .*: run the migration of this version/,
    {
      sql: [
        `update schema_migration set name = '0000' || substr(name, 5)`,
        `update schema_migration set name = '0001' || substr(name, 5)`,
      ],
    },
  ],
  'a role without rights': [
    /roles paddock_reconciler have no rights .*: run the migration again/,
    { sql: ['revoke all on schema paddock from paddock_reconciler', 'migrate'] },
  ],
  'all roles without rights, as after a restore': [
    /neither the login \S+ nor the roles paddock_console, paddock_ingress, .* may use the schema paddock: run the migration again/,
    { sql: [revokeAll('schema paddock'), 'migrate'] },
  ],
  'a table without rights': [
    /cannot be asked: permission denied for table schema_migration; run the migration again/,
    { sql: [revokeAll('all tables in schema paddock'), 'migrate'] },
  ],
  'a database that allows one connection': [
    /no two connections left: raise the limit of the role, the database or the server/,
    { sql: [ofDatabase('connection limit 1'), ofDatabase('connection limit -1')] },
  ],
  'autovacuum that is switched off': [
    /autovacuum is switched off for jobs: switch it on/,
    {
      level: 'remark',
      sql: [
        'alter table jobs set (autovacuum_enabled = off)',
        'alter table jobs reset (autovacuum_enabled)',
      ],
    },
  ],
  'triggers that are switched off': [
    /switched off \(jobs_touch on jobs\): switch them on again/,
    {
      sql: [
        'alter table jobs disable trigger jobs_touch',
        'alter table jobs enable trigger jobs_touch',
      ],
    },
  ],
  'a clock that is off by minutes': [
    /clock of PostgreSQL is 10 min behind that of this machine: set both/,
    { aheadMs: 605_000 },
  ],
  'a login that may make no temporary objects': [
    /not tried whether a trigger of a statement sees the rows/,
    {
      level: 'unchecked',
      sql: [
        `do $$ begin execute format('revoke temporary on database %I from public', current_database()); end $$`,
        `do $$ begin execute format('grant temporary on database %I to public', current_database()); end $$`,
      ],
    },
  ],
  'no database': [
    /not checked: DATABASE_URL is not set/,
    { level: 'unchecked', environment: () => ({ DATABASE_URL: undefined }) },
  ],
};

/** SQL: a version that has lived for an hour, and does. */
const LIFE = `(select jsonb_build_object('since', s - 3600, 'last', s, 'schema', 1) from (select extract(epoch from now())) t(s))`;

export const SERVICES: Breaks = {
  'a service that is silent': [
    /No process of the service reconciler gives a sign of life.*Look at its pods/,
    {
      sql: [
        `update instance set reconciler_seen_at = now() - interval '1 hour'`,
        'update instance set reconciler_seen_at = now()',
      ],
    },
  ],
  'two versions side by side': [
    /Services of different versions.*: ingress 1\.0\.0, ingress 1\.1\.0\. Finish the upgrade/,
    {
      sql: [
        `update instance set versions = jsonb_build_object('ingress 1.0.0', ${LIFE}, 'ingress 1.1.0', ${LIFE})`,
        `update instance set versions = '{}'`,
      ],
    },
  ],
  'services older than the schema': [
    /older than the schema, run side by side: ingress 1\.0\.0\. Finish the upgrade/,
    {
      sql: [
        `update instance set versions = jsonb_build_object('ingress 1.0.0', ${LIFE});
        insert into schema_migration (name, "timestamp") values ('0002_next', '2026-01-01T00:00:00.000Z')`,
        `update instance set versions = '{}'; delete from schema_migration where name = '0002_next'`,
      ],
    },
  ],
  'a runner version that has ended': [
    /GitHub no longer serves the runner version of linux: 2\.1\.0\..*newer runner image/,
    {
      sql: [
        `insert into pool_runner_versions (k8s_pool, version, pod_name, ends_at) values ('linux', '2.1.0', 'p', now() - interval '1 day')`,
        'delete from pool_runner_versions',
      ],
    },
  ],
  'notifications that do not arrive': [
    /Notifications do not arrive: the webhook answered 404\. Mend the address/,
    {
      sql: [
        `insert into operations (id, kind, subject_type, subject_id, payload, origin, status, attempt, max_attempts, crashes, failures, queued_at, finished_at, expires_at, output)
        values (gen_random_uuid(), 'recover-tasks', 'schedule', 'recover-tasks', '{}', 'AUTOMATIC', 'OK', 1, 3, 0, '[]', now(), now(), now() + interval '1 day', '{"notifications": {"problem": "the webhook answered 404"}}')`,
        `delete from operations where kind = 'recover-tasks'`,
      ],
    },
  ],
  'no pools': [
    /No scheduler has loaded the pools.*: start the scheduler/,
    {
      sql: [
        'create table kept as table pools_documents; delete from pools_documents',
        'insert into pools_documents overriding system value table kept; drop table kept',
      ],
    },
  ],
  'making held back': [
    /ada holds back .* Resume it once its reason is over/,
    {
      level: 'remark',
      sql: [
        `insert into switches (subject_type, subject_id, switched_by) values ('environment', '', 'ada')`,
        'delete from switches',
      ],
    },
  ],
  'GitHub that does not answer': [
    /GitHub does not answer: timed out/,
    {
      level: 'remark',
      sql: [
        `insert into outages (service, message) values ('github', 'timed out')`,
        'delete from outages',
      ],
    },
  ],
  'an App that GitHub refuses': [
    /GitHub refuses what Paddock asks for the App 8: Bad key/,
    {
      sql: [
        `insert into apps (app_id, refused_since, refused_until, refused_reason, refused_message)
          values (8, now() - interval '1 minute', now() + interval '1 hour', 'installation_refused', 'Bad key.')`,
        'delete from apps',
      ],
    },
  ],
  'an installation whose budget is used up': [
    /GitHub has Paddock wait with its calls for the App 7: Slow down/,
    {
      level: 'remark',
      sql: [
        `insert into apps (app_id, wait_until, wait_message) values (7, now() + interval '1 hour', 'Slow down.')`,
        'delete from apps',
      ],
    },
  ],
  'workers that fail before they have a job': [
    /Workers in linux fail before they have a job: quota/,
    {
      sql: [
        `insert into demand_keys (demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, waiting, unassigned, failures, pauses, failure_class, failure_message, failing_since, paused_until)
          values (1, 9, 'globex', 0, 'linux', 0, 0, 3, 1, 'pod_refused', 'quota', now() - interval '3 minutes', now() + interval '1 hour')`,
        'delete from demand_keys',
      ],
    },
  ],
  'a lease that nobody holds': [
    /No scheduler has done follow-pods for 10 min.*look at the scheduler's pods/,
    {
      sql: [
        `insert into leases (name, holder, fence, expires_at) values ('follow-pods', 'gone', 1, now() - interval '10 minutes')`,
        'delete from leases',
      ],
    },
  ],
  'a sweep that is overdue': [
    /The sweep check-workers repairs nothing: no replica has taken a tick of it for .*; look at the reconciler/,
    {
      sql: [
        `insert into schedules (name, last_tick_at, succeeded_at) values ('check-workers', now() - interval '1 hour', now() - interval '1 hour')`,
        'delete from schedules',
      ],
    },
  ],
};
