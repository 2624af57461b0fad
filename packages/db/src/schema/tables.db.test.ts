import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { expect, test } from '@jest/globals';
import { sql } from 'kysely';

const database = useTestDatabase();

/**
 * A column as both sides describe it: `bigint`, `text?` (nullable), `integer=` (may be left out of
 * an insert).
 */
type Columns = Record<string, string>;

test('tables.ts agrees with the database about every table: columns, types, null and defaults', async () => {
  expect(declaredTables()).toEqual(await tablesInDatabase());
});

async function tablesInDatabase(): Promise<Record<string, Columns>> {
  const { rows } = await sql<{
    table: string;
    column: string;
    type: string;
    nullable: boolean;
    defaulted: boolean;
  }>`
    select table_name as "table", column_name as "column", case data_type when 'USER-DEFINED' then udt_name else data_type end as type,
      is_nullable = 'YES' as nullable, column_default is not null or is_identity = 'YES' or is_generated = 'ALWAYS' as defaulted
    from information_schema.columns
    where table_schema = current_schema() and not starts_with(table_name, 'schema_migration')`.execute(
    database.db,
  );
  const tables: Record<string, Columns> = {};
  for (const { table, column, type, nullable, defaulted } of rows) {
    const columns = (tables[table] ??= {});
    columns[column] = `${family(type)}${nullable ? '?' : defaulted ? '=' : ''}`;
  }
  return tables;
}

function family(type: string): string {
  if (type === 'bigint' || type === 'integer') return 'number';
  if (type === 'timestamp with time zone') return 'Date';
  if (type === 'jsonb' || type === 'boolean') return type;
  return 'string';
}

/**
 * Types are gone at run time, so the files themselves are read: interfaces hold one column per
 * line.
 */
function declaredTables(): Record<string, Columns> {
  const source = globSync('*tables.ts', { cwd: import.meta.dirname })
    .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
    .join('\n');
  const interfaces = new Map(
    [...source.matchAll(/^(?:export )?interface (\w+)(?: extends (\w+))? \{\n(.*?)^\}/gms)].map(
      ([, name, base, body = '']) => [name, { base, body }],
    ),
  );
  const tables = [...(interfaces.get('Database')?.body ?? '').matchAll(/^ {2}(\w+): (\w+);$/gm)];
  const bodyOf = (name: string | undefined): string => {
    const { base, body = '' } = interfaces.get(name) ?? {};
    return base === undefined ? body : bodyOf(base) + body;
  };
  return Object.fromEntries(tables.map(([, table, name]) => [table, columnsOf(bodyOf(name))]));
}

function columnsOf(body: string): Columns {
  return Object.fromEntries(
    [...body.matchAll(/^ {2}(\w+): (.+);$/gm)].map(([, column = '', type = '']) => [
      column,
      declaredColumn(type),
    ]),
  );
}

function declaredColumn(type: string): string {
  const nullable = /^Nullable<|^ColumnType<.*\bnull\b/.test(type);
  const defaulted = /^Generated|^JsonColumnWithDefault</.test(type);
  return `${declaredFamily(type)}${nullable ? '?' : defaulted ? '=' : ''}`;
}

function declaredFamily(type: string): string {
  if (/^Json|^ColumnType</.test(type)) return 'jsonb';
  const inner = /^\w+<(.*)>$/.exec(type)?.[1] ?? type;
  return ['number', 'Date', 'boolean'].includes(inner) ? inner : 'string';
}
