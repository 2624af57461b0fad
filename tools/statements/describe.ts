import type pg from 'pg';
import { type Catalog, nullableColumns } from './nullability.ts';
import { isNode, parseTree } from './query-tree.ts';

/** A column that a statement returns. */
export interface Column {
  readonly name: string;
  /** What the pool's parser makes of it, as `typeof`; `Date`, or `json` for anything JSON may be. */
  readonly kind: string;
  readonly isNullable: boolean;
}

/** Prepares statements and runs none. */
export async function openDescriber(pool: pg.Pool) {
  const client = await pool.connect();
  await client.query(
    "set client_min_messages = 'log'; set debug_print_parse = on; set debug_pretty_print = off",
  );
  const catalog = await readCatalog(client);
  const categories = new Map<number, string>(
    (
      await client.query<{ oid: number; category: string }>(
        `select oid::int4, case when typname in ('json', 'jsonb') then 'J' else typcategory::text end as category from pg_type`,
      )
    ).rows.map(({ oid, category }) => [oid, category]),
  );
  const kindOf = (oid: number): string => {
    const category = categories.get(oid) ?? '';
    if (category === 'J') return 'json';
    const parse = client.getTypeParser(oid) as (text: string) => unknown;
    const value = parse(SAMPLES[category] ?? 'x');
    if (Array.isArray(value)) return `${typeof value[0]}[]`;
    return value instanceof Date ? 'Date' : typeof value;
  };

  return {
    close: () => client.release(true),
    async describe(text: string): Promise<Column[]> {
      const { fields, tree } = await describeOn(client, text);
      const query = parseTree(tree);
      const nullable = isNode(query) ? nullableColumns(query, catalog) : [];
      return fields.map(({ name, dataTypeID }, nth) => ({
        name,
        kind: kindOf(dataTypeID),
        isNullable: nullable[nth] ?? true,
      }));
    },
  };
}

/** A text of each category of types that have one. */
const SAMPLES: Readonly<Record<string, string>> = {
  N: '1',
  B: 't',
  D: '2026-01-31 00:00:00+00',
  A: '{1}',
  T: '1 day',
};

async function readCatalog(client: pg.PoolClient): Promise<Catalog> {
  const columns = await client.query<{ place: string }>(
    `select attrelid || '.' || attnum as place from pg_attribute where attnotnull`,
  );
  const functions = await client.query<{ oid: string; name: string }>(
    `select oid::text, proname as name from pg_proc`,
  );
  return {
    required: new Set(columns.rows.map(({ place }) => place)),
    functions: new Map(functions.rows.map(({ oid, name }) => [oid, name])),
  };
}

/** Parse and Describe of the protocol, without Execute. */
function describeOn(client: pg.PoolClient, text: string) {
  const said = { fields: [] as readonly pg.FieldDef[], tree: '' };
  const { promise, resolve, reject } = Promise.withResolvers<typeof said>();
  const noted = ({ detail }: { detail?: string | undefined }) => {
    said.tree ||= detail ?? '';
  };
  client.on('notice', noted);
  client.query({
    submit(connection: pg.Connection) {
      connection.parse({ name: '', text, types: [] }, true);
      connection.describe({ type: 'S', name: '' }, true);
      connection.sync();
    },
    handleRowDescription: (message: { fields: pg.FieldDef[] }) => {
      said.fields = message.fields;
    },
    handleError: reject,
    handleReadyForQuery: () => resolve(said),
  } as unknown as pg.Submittable);
  return promise.finally(() => client.off('notice', noted));
}
