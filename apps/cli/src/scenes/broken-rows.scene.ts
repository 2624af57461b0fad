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
const url = (change: (url: URL) => unknown) => (given: { readonly DATABASE_URL: string }) => {
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
  'a connection that may be unencrypted': [
    /may be unencrypted.*: write sslmode=verify-full into DATABASE_URL/,
    { level: 'remark', environment: url((to) => Object.assign(to, { hostname: '0.0.0.0' })) },
  ],
  'a port where nothing listens': [
    /cannot be reached: connect ECONNREFUSED.*that the server runs/,
    { environment: url((to) => Object.assign(to, { hostname: '127.0.0.1', port: '1' })) },
  ],
  'several hosts': [
    /name one address that leads to the primary/,
    { environment: () => ({ DATABASE_URL: 'postgresql://me:b@one,two/paddock' }) },
  ],
  'a schema of no valid name': [
    /PADDOCK_SCHEMA must be a plain lower-case identifier/,
    { environment: () => ({ PADDOCK_SCHEMA: 'Prod' }) },
  ],
  'a standby, or a database that is read-only': [
    /takes no writes: it is a standby, or set to read-only/,
    { environment: withOption('options', '-c default_transaction_read_only=on') },
  ],
  'a login that does not inherit the rights of its role': [
    /does not inherit the rights of its role paddock_scheduler: revoke/,
    {
      environment: url((to) => Object.assign(to, { username: 'paddock_idle', password: '' })),
      sql: [
        'create role paddock_idle login noinherit in role paddock_scheduler',
        'drop role paddock_idle',
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
