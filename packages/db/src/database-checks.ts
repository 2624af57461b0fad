import { roleOf, SERVICES } from './connection/schema-name.ts';
import { onlyRowOf } from './rows.ts';
import type { Db } from './schema/tables.ts';
import { currentVersion, SCHEMA_VERSION } from './schema-version.ts';

/** The environment that is looked at, and the role that has the service's rights in it. */
export interface Place {
  readonly schema: string;
  /** Undefined: the login needs no rights of a service. */
  readonly role?: string | undefined;
}

/** What decides whether Paddock can work on a database. */
export interface DatabaseFacts {
  /** PostgreSQL's major version. */
  readonly server: number;
  readonly encoding: string;
  /** The system orders texts by other rules than when the database was made. */
  readonly isCollationOld: boolean;
  readonly isReadOnly: boolean;
  readonly login: string;
  /** Whether the login may use the schema; null: there is no such schema. */
  readonly mayUse: boolean | null;
  /** Whether the login is a member of the role; null: there is none. */
  readonly isMember: boolean | null;
  /** Some of the role's rights that the login lacks, as `insert on jobs`. */
  readonly lacking: readonly string[];
  /** Some tables of the schema that autovacuum passes over. */
  readonly unvacuumed: readonly string[];
  /** Some triggers of the schema that are switched off, as `jobs_touch on jobs`. */
  readonly idleTriggers: readonly string[];
  /** The roles of services that are there and have no rights in it: made after the migration, for one. */
  readonly powerless: readonly string[];
  /** The roles of services that the login is a member of, and whose rights it does not inherit. */
  readonly uninherited: readonly string[];
  /** The number of the schema's newest migration; undefined: none is to be seen. */
  readonly version: number | undefined;
  /** Most connections that server, database and role allow the login, with all its processes. */
  readonly connections: number;
}

/** Reads the facts by a connection of the login itself. Rejects if PostgreSQL does. */
export async function readDatabaseFacts(
  db: Db,
  { schema, role = '' }: Place,
): Promise<DatabaseFacts> {
  const roles = SERVICES.map((service) => roleOf(schema, service));
  const facts = await onlyRowOf<Omit<DatabaseFacts, 'version'>>(db)`
    select current_setting('server_version_num')::integer / 10000 as server,
      current_setting('server_encoding') as encoding,
      -- Before 15 there is no such column.
      exists (select from pg_database d where datname = current_database() and (to_jsonb(d) ->> 'datcollversion')
        is distinct from pg_collation_actual_version('pg_catalog."default"'::regcollation)) as "isCollationOld",
      current_setting('transaction_read_only') = 'on' as "isReadOnly",
      session_user::text as login,
      has_schema_privilege(to_regnamespace(${schema}), 'usage') as "mayUse",
      pg_has_role(to_regrole(nullif(${role}, '')), 'usage') as "isMember",
      array(
        select format('%s on %s', lower(privilege_type), relname) from pg_class, aclexplode(relacl)
        where relnamespace = to_regnamespace(${schema}) and relkind = 'r' and grantee = to_regrole(nullif(${role}, ''))
          and not has_table_privilege(pg_class.oid, privilege_type)
        order by 1 limit 3
      ) as lacking,
      array(
        select format('%s on %s', tgname, relname) from pg_trigger join pg_class on pg_class.oid = tgrelid
        where relnamespace = to_regnamespace(${schema}) and not tgisinternal and tgenabled not in ('O', 'A') order by 1 limit 3
      ) as "idleTriggers",
      array(
        select relname::text from pg_class where relnamespace = to_regnamespace(${schema}) and relkind = 'r'
          and ('off' in (current_setting('autovacuum'), current_setting('track_counts'))
            or exists (select from unnest(reloptions) one where one ~ '^autovacuum_enabled=(f|of|n|0)')) order by 1 limit 3
      ) as unvacuumed,
      array(
        select rolname::text from pg_roles where rolname = any(${roles}::text[])
          and not has_schema_privilege(rolname, to_regnamespace(${schema}), 'usage') order by 1
      ) as powerless,
      array(
        select rolname::text from pg_roles where rolname = any(${roles}::text[])
          and pg_has_role(oid, 'member') and not pg_has_role(oid, 'usage')
      ) as uninherited,
      least(
        current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
          - coalesce(current_setting('reserved_connections', true)::integer, 0),
        (select nullif(rolconnlimit, -1) from pg_roles where rolname = session_user),
        (select nullif(datconnlimit, -1) from pg_database where datname = current_database())
      ) as connections`;
  const isSeen = facts.mayUse === true && facts.lacking.length === 0;
  return { ...facts, version: isSeen ? await currentVersion(db) : undefined };
}

/** Returns what is wrong, and what to do, as a sentence for whoever reads it; undefined: nothing. */
type Check = (facts: DatabaseFacts, place: Place) => string | undefined;

const OLDEST_SERVER = 15;
const NEWEST_SERVER = 18;

/** What no migration mends. */
const OF_SERVER: readonly Check[] = [
  ({ server }) =>
    server < OLDEST_SERVER
      ? `PostgreSQL ${server} is too old: Paddock needs ${OLDEST_SERVER} to ${NEWEST_SERVER}`
      : undefined,
  ({ encoding }) =>
    encoding === 'UTF8'
      ? undefined
      : `the database has the encoding ${encoding}, which cannot hold every text: use a database that was made with encoding 'UTF8' (create database … encoding 'UTF8' template template0)`,
  ({ isReadOnly }) =>
    isReadOnly ? 'PostgreSQL takes no writes: it is a standby, or set to read-only' : undefined,
];

const OF_SCHEMA: readonly Check[] = [
  ({ mayUse, isMember, login, powerless, uninherited: [idle] }, { schema, role }) => {
    if (mayUse !== false) return undefined;
    if (idle !== undefined)
      return `the login ${login} does not inherit the rights of its role ${idle}: revoke the role, alter role ${login} inherit, and grant it again`;
    if (role === undefined && powerless.length > 0)
      return `neither the login ${login} nor the roles ${powerless.join(', ')} may use the schema ${schema}: run the migration again with a role that may grant rights`;
    return role === undefined || isMember === false
      ? `the login ${login} may not use the schema ${schema}: grant it the role ${role ?? `${schema}_console`}`
      : `the login ${login} may not use the schema ${schema}: the role ${role} is missing, or has no rights in it. Create it if it is missing, then run the migration again`;
  },
  ({ lacking, login }, { schema, role }) =>
    lacking.length === 0
      ? undefined
      : `the login ${login} lacks rights in the schema ${schema} (${lacking.join(', ')}): grant it the role ${role}`,
  ({ idleTriggers }) =>
    idleTriggers.length === 0
      ? undefined
      : `triggers of Paddock are switched off (${idleTriggers.join(', ')}): switch them on again (alter table … enable trigger user)`,
  ({ version }, { schema }) => {
    if (version === undefined)
      return `the schema ${schema} has no tables of Paddock: the migration has not run on this database, or its log says why it failed`;
    // A newer schema is fine: in a rolling upgrade the migration runs first, then old and new
    // services work side by side.
    if (version < SCHEMA_VERSION) {
      return `the schema ${schema} is at version ${version} and this service needs ${SCHEMA_VERSION} or newer: run the migration of this version`;
    }
    return undefined;
  },
];

const firstOf =
  (checks: readonly Check[]): Check =>
  (facts, place) => {
    for (const check of checks) {
      const why = check(facts, place);
      if (why !== undefined) return why;
    }
    return undefined;
  };

/** Why no migration can make this database fit. */
export const whyUnmigratable = firstOf(OF_SERVER);

/** Why a service cannot work on this database. */
export const whyUnfit = firstOf([...OF_SERVER, ...OF_SCHEMA]);

/** What to mend although a service works. `need`: most connections of one process. */
export function warningOf(
  { server, connections, login, isCollationOld, unvacuumed }: DatabaseFacts,
  need: number,
): string | undefined {
  if (connections < need)
    return `PostgreSQL allows the login ${login} ${connections} connections, and this process alone may use ${need}: raise the limit of the role, the database or the server, or lower the pool size`;
  if (isCollationOld)
    return "the system's collation has another version than when the database was made, so indexes of texts may miss rows: reindex database, then alter database … refresh collation version";
  if (unvacuumed.length > 0)
    return `autovacuum is switched off for ${unvacuumed.join(', ')}: switch it on, or these tables grow and each statement takes longer`;
  return server > NEWEST_SERVER
    ? `PostgreSQL ${server} is newer than those that this version of Paddock was tested with, ${OLDEST_SERVER} to ${NEWEST_SERVER}`
    : undefined;
}
