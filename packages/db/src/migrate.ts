import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { connectDatabase } from './connection/connect.ts';
import { assertSchemaName } from './connection/schema-name.ts';
import { grantServices, rolesSql } from './service-roles.ts';
import type { Database } from './schema/tables.ts';

/**
 * Right for the sources and for apps/migrate/dist/main.mjs: both are three folders below the root.
 */
const MIGRATIONS = fileURLToPath(new URL('../../../db/migrations', import.meta.url));

export interface MigrateOptions {
  url: string;
  schema: string;
  /**
   * One role for all services, which may read and write all rows of the environment but not alter
   * it.
   */
  serviceRole?: string;
}

export interface Migrated {
  readonly applied: string[];
  /**
   * Roles of services that are missing and that the migrator may not make. Until they exist, no
   * service's role gets rights.
   */
  readonly missingRoles?: readonly string[];
}

/**
 * Migrates one environment to the newest version. Safe to repeat; of two at once, the second waits
 * and finds nothing to do.
 */
export async function migrate(options: MigrateOptions): Promise<Migrated> {
  return withMigrator(options, async (migrator, db) => {
    await createSchema(db, options.schema);
    const applied: string[] = [];
    for (
      let next = await applyNext(migrator, options);
      next !== undefined;
      next = await applyNext(migrator, options)
    )
      applied.push(next);
    const missingRoles = await grantServices(db, options.schema);
    if (options.serviceRole !== undefined)
      await grantService(db, options.schema, options.serviceRole);
    return missingRoles.length === 0 ? { applied } : { applied, missingRoles };
  });
}

/**
 * One migration is one transaction: a lock on a table does not last while the next migration builds
 * indexes.
 */
async function applyNext(
  migrator: Migrator,
  { schema }: MigrateOptions,
): Promise<string | undefined> {
  const { error, results = [] } = await migrator.migrateUp();
  const [result] = results;
  if (error === undefined) return result?.migrationName;
  throw new Error(
    `Migration ${result?.migrationName ?? 'of the database'} failed in schema ${schema}; nothing of it was kept.`,
    {
      cause: error,
    },
  );
}

/**
 * The SQL that `migrate` would run, bookkeeping included, for an operator who applies it by hand.
 * Changes nothing.
 */
export async function pendingSql(options: MigrateOptions): Promise<string> {
  return withMigrator(options, async (migrator) => {
    const pending = (await migrator.getMigrations()).filter(
      (migration) => migration.executedAt === undefined,
    );
    if (pending.length === 0) return '';
    const inTransaction = (text: string) =>
      `begin;\nset local search_path = ${options.schema};\n${text}\ncommit;\n`;
    const applied = pending.map(({ name }) =>
      inTransaction(`-- ${name}\n${readMigration(`${name}.sql`)}\n${bookkeeping(name)}`),
    );
    return [prepare(options.schema), ...applied, rolesSql(options.schema), ''].join('\n');
  });
}

const prepare = (schema: string): string => `create schema if not exists ${schema};
create table if not exists ${schema}.schema_migration (name varchar(255) primary key, "timestamp" varchar(255) not null);
`;

const bookkeeping = (name: string): string =>
  `insert into schema_migration (name, "timestamp") values ('${name}', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));\n`;

async function withMigrator<T>(
  { url, schema }: MigrateOptions,
  work: (migrator: Migrator, db: Kysely<Database>) => Promise<T>,
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
    const migrator = new Migrator({
      db,
      migrationTableName: 'schema_migration',
      migrationLockTableName: 'schema_migration_lock',
      migrationTableSchema: schema,
      provider: { getMigrations: () => Promise.resolve(readMigrations()) },
    });
    return await work(migrator, db);
  } finally {
    await close();
  }
}

/** `create schema if not exists` itself fails when two run it at once, hence the lock. */
async function createSchema(db: Kysely<Database>, schema: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext('paddock schema'), hashtext(${schema}))`.execute(
      trx,
    );
    const { rows } = await sql`select from pg_namespace where nspname = ${schema}`.execute(trx);
    if (rows.length === 0) await sql`create schema ${sql.id(schema)}`.execute(trx);
  });
}

function readMigrations(): Record<string, Migration> {
  const files = readdirSync(MIGRATIONS).filter((file) => file.endsWith('.sql'));
  return Object.fromEntries(
    files.map((file) => [
      file.slice(0, -'.sql'.length),
      {
        up: async (db) => void (await sql.raw(readMigration(file)).execute(db)),
      } satisfies Migration,
    ]),
  );
}

const readMigration = (file: string): string => readFileSync(join(MIGRATIONS, file), 'utf8');

async function grantService(db: Kysely<Database>, schema: string, role: string): Promise<void> {
  await sql`grant usage on schema ${sql.id(schema)} to ${sql.id(role)}`.execute(db);
  await sql`grant select, insert, update, delete on all tables in schema ${sql.id(schema)} to ${sql.id(role)}`.execute(
    db,
  );
  await sql`grant usage on all sequences in schema ${sql.id(schema)} to ${sql.id(role)}`.execute(
    db,
  );
}
