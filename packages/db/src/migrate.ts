import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { connectDatabase } from './connection/connect.ts';
import { assertSchemaName, roleOf, type ServiceName, SERVICES } from './connection/schema-name.ts';
import { rowsOf } from './rows.ts';
import type { Db } from './schema/tables.ts';
import { isConflict, retried, sqlStateOf } from './connection/errors.ts';
import { readDatabaseFacts, whyUnmigratable } from './database-checks.ts';

/**
 * Right for the sources and for apps/migrate/dist/main.mjs: both are three folders below the root.
 */
export const MIGRATIONS = fileURLToPath(new URL('../../../db/migrations', import.meta.url));
const RIGHTS = fileURLToPath(new URL('../../../db/roles.sql', import.meta.url));

const rolesOf = (schema: string): string[] => SERVICES.map((service) => roleOf(schema, service));

/**
 * Makes one role unless it is there. Schemas are plain identifiers, so nothing has to be quoted.
 */
const makingRole = (role: string): string => `do $$ begin
  if not exists (select from pg_roles where rolname = '${role}') then
    create role ${role} nologin;
  end if;
exception when duplicate_object or unique_violation then null; -- made by another at this moment
end $$;
`;

/** The rights of the services, for the transaction that sets the search path to the schema. */
const rightsIn = (schema: string): string =>
  readFileSync(RIGHTS, 'utf8').replaceAll(
    /(?<![:\w]):(schema|ingress|scheduler|reconciler|console)\b/g,
    (_whole, name: string) =>
      name === 'schema' ? `"${schema}"` : roleOf(schema, name as ServiceName),
  );

/** The SQL that makes the roles and gives them their rights, to be applied by hand. */
const rolesSql = (schema: string): string =>
  `${rolesOf(schema).map(makingRole).join('')}begin;\nset local search_path = "${schema}";\n${rightsIn(schema)}commit;\n`;

const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * Gives each service's role its rights, and takes all others away. Returns the roles that are
 * missing and that we may not make; then nothing is granted.
 */
async function grantServices(db: Db, schema: string): Promise<string[]> {
  const missing: string[] = [];
  for (const role of rolesOf(schema)) {
    await sql
      .raw(makingRole(role))
      .execute(db)
      .catch((error: unknown) => {
        if (sqlStateOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
        missing.push(role);
      });
  }
  if (missing.length > 0) return missing;
  await db.transaction().execute(async (trx) => {
    // Two grants at once would fail over one row of the catalogue, even for different schemas of
    // the database.
    await sql`select pg_advisory_xact_lock(hashtext('paddock roles'))`.execute(trx);
    await sql.raw(rightsIn(schema)).execute(trx);
  });
  return [];
}

export interface MigrateOptions {
  url: string;
  schema: string;
  /** The folder of the migrations; by default those of this version. */
  folder?: string;
}

/** Nothing was changed: no version of Paddock could work on this database as it is. */
export class UnfitDatabase extends Error {
  override readonly name = 'UnfitDatabase';
}

export interface Migrated {
  readonly applied: string[];
  /** A migration of the schema that this version does not know: a newer version made it. */
  readonly unknown?: string;
  /** Roles that are missing and that we may not make. Until then, no service gets rights. */
  readonly missingRoles?: readonly string[];
}

/**
 * Migrates one environment to the newest version. Safe to repeat; of two at once, the second waits
 * and finds nothing to do. After a rollback the schema is newer than this version, which leaves it
 * as it is: to grant its services' rights would take rights from those of the newer version. Throws
 * UnfitDatabase.
 */
export async function migrate(options: MigrateOptions): Promise<Migrated> {
  const { schema, folder = MIGRATIONS } = options;
  return withDatabase(options, async (db) => {
    const why = whyUnmigratable(await readDatabaseFacts(db, { schema }), { schema });
    if (why !== undefined) throw new UnfitDatabase(why);
    const applied: string[] = [];
    for (;;) {
      const { next, unknown } = await retried(
        () => applyNext(db, schema, folder),
        isGivenUp,
        MOST_TRIES,
      );
      if (unknown !== undefined) return { applied, unknown };
      if (next === undefined) break;
      applied.push(next);
    }
    const missingRoles = await grantServices(db, schema);
    return missingRoles.length === 0 ? { applied } : { applied, missingRoles };
  });
}

const MOST_TRIES = 5;

/** The services work on meanwhile: of two that wait for each other PostgreSQL gives one up. */
const isGivenUp = (error: unknown): boolean => isConflict((error as { cause?: unknown }).cause);

/**
 * One migration is one transaction: a lock on a table does not last while the next migration builds
 * indexes. Returns its name, unless none is left.
 */
const applyNext = (
  db: Db,
  schema: string,
  folder: string,
): Promise<{ next?: string | undefined; unknown?: string | undefined }> =>
  db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext('paddock schema'), hashtext(${schema}))`.execute(
      trx,
    );
    const { pending, unknown } = await findPending(trx, schema, folder);
    const [next] = pending;
    if (unknown !== undefined || next === undefined) return { unknown };
    // The owner of a schema may not make one: "if not exists" would ask for that right.
    const { rows } = await sql`select from pg_namespace where nspname = ${schema}`.execute(trx);
    if (rows.length === 0) await sql`create schema ${sql.id(schema)}`.execute(trx);
    try {
      await sql.raw(makeBookkeeping(schema) + readMigration(folder, next)).execute(trx);
    } catch (cause) {
      const failed = `Migration ${next} failed in schema ${schema}; nothing of it was kept.`;
      throw new Error(failed, { cause });
    }
    await sql.raw(bookkeeping(next)).execute(trx);
    return { next };
  });

/** The names of the migrations that a schema lacks, in order, and of one that is unknown here. */
async function findPending(
  db: Db,
  schema: string,
  folder: string,
): Promise<{ pending: string[]; unknown?: string | undefined }> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  const known = files.map((file) => file.slice(0, -'.sql'.length)).toSorted();
  const { rows: found } =
    await sql`select where to_regclass(${`${schema}.schema_migration`}) is not null`.execute(db);
  if (found.length === 0) return { pending: known };
  const rows = await rowsOf<{
    name: string;
  }>(db)`select name from ${sql.id(schema, 'schema_migration')}`;
  const applied = rows.map(({ name }) => name);
  const unknown = applied.find((name) => !known.includes(name));
  return unknown === undefined
    ? { pending: known.filter((name) => !applied.includes(name)) }
    : { pending: [], unknown };
}

/** The SQL that `migrate` would run, to be applied by hand. Changes nothing. */
export async function pendingSql(options: MigrateOptions): Promise<string> {
  const { schema, folder = MIGRATIONS } = options;
  const { pending } = await withDatabase(options, (db) => findPending(db, schema, folder));
  if (pending.length === 0) return '';
  const inTransaction = (text: string) =>
    `begin;\nset local search_path = "${schema}";\n${text}\ncommit;\n`;
  const applied = pending.map((name) =>
    inTransaction(`-- ${name}\n${readMigration(folder, name)}\n${bookkeeping(name)}`),
  );
  const prepare = `create schema if not exists "${schema}";\n${makeBookkeeping(schema)}`;
  return [prepare, ...applied, rolesSql(schema), ''].join('\n');
}

const makeBookkeeping = (schema: string): string =>
  `create table if not exists "${schema}".schema_migration (name varchar(255) primary key, "timestamp" varchar(255) not null);\n`;

const bookkeeping = (name: string): string =>
  `insert into schema_migration (name, "timestamp") values ('${name}', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));\n`;

async function withDatabase<T>(
  { url, schema }: MigrateOptions,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  assertSchemaName(schema);
  const { db, close } = connectDatabase({
    url,
    schema,
    poolSize: 2,
    applicationName: 'paddock-migrate',
    statementTimeoutMs: 0,
    lockTimeoutMs: 60_000,
  });
  try {
    return await work(db);
  } finally {
    await close();
  }
}

const readMigration = (folder: string, name: string): string =>
  readFileSync(join(folder, `${name}.sql`), 'utf8');
