import { isMap, isScalar, type Node, type Pair, parseDocument, type YAMLMap } from 'yaml';
import type { JsonSchema } from './values-schema.ts';

/** A row for each of the chart's values. */
export function describeValues(values: string, schema: JsonSchema): string {
  const { contents } = parseDocument(values);
  if (!isMap(contents)) throw new Error('The values of the chart are a map.');
  const rows = rowsOf(contents, schema, []);
  return `| Key | Default | Allowed | Meaning |\n|---|---|---|---|\n${rows.map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')}\n`;
}

type Row = readonly [key: string, fallback: string, allowed: string, meaning: string];

/** The rows of a map. One whose keys the schema does not list, or that has none, is a single row. */
function rowsOf(map: YAMLMap, schema: JsonSchema, path: readonly string[]): Row[] {
  return map.items.flatMap((pair, nth) => {
    const { key, value } = pair as Pair<Node, Node>;
    const name = String(isScalar(key) ? key.value : key);
    const meaning = commentOf(key, nth === 0 ? map : undefined);
    const of = schema.properties?.[name] ?? {};
    const place = [...path, name];
    if (
      isMap(value) &&
      value.items.length > 0 &&
      Object.keys(of.properties ?? {}).length > 0 &&
      name !== 'config'
    ) {
      const rows = rowsOf(value, of, place);
      return meaning === '' ? rows : [[placeOf(place), '', '', meaning] as const, ...rows];
    }
    return [[placeOf(place), defaultOf(value), allowedIn(of), meaning] as const];
  });
}

const placeOf = (path: readonly string[]): string => `\`${path.join('.')}\``;

/** The comment over a key. YAML gives that over a map's first key to the map. */
function commentOf(key: Node, map: YAMLMap | undefined): string {
  const comment = key.commentBefore ?? map?.commentBefore ?? '';
  return comment.replaceAll(/\s+/g, ' ').trim();
}

const defaultOf = (value: Node | null): string => `\`${JSON.stringify(value)}\``;

function allowedIn(schema: JsonSchema): string {
  if (schema.anyOf !== undefined)
    return [...new Set(schema.anyOf.map(allowedIn))].filter(Boolean).join(' or ');
  if (schema.enum !== undefined) return schema.enum.join(', ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === 'integer') return `a whole number from ${schema.minimum ?? 0}`;
  return TYPES[schema.type ?? ''] ?? '';
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
};

const cell = (text: string): string => text.replaceAll('|', '\\|');
