import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { closestName } from './closest-name.ts';

/** Reads one YAML file into a schema. Problems name the file and the place in it; nothing is thrown for a bad file. */
export function readYamlFile<T>(path: string, schema: z.ZodType<T>): { value: T | undefined; problems: string[] } {
  let source: string;
  try {
    source = readFileSync(path, 'utf8');
  } catch (error) {
    return {
      value: undefined,
      problems: [`the configuration file ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`],
    };
  }
  return parseYaml(path, source, schema);
}

/** As `readYamlFile`, for text that is at hand; `path` is only for the messages. */
export function parseYaml<T>(path: string, source: string, schema: z.ZodType<T>): { value: T | undefined; problems: string[] } {
  const { content, errors } = readYaml(source);
  if (errors.length > 0) return { value: undefined, problems: errors.map((error) => `${path}: ${error.split('\n')[0] ?? ''}`) };
  const parsed = schema.safeParse(content ?? {}, { error: sayWhatIsWanted });
  if (parsed.success) return { value: parsed.data, problems: [] };
  const problems = parsed.error.issues.flatMap((issue) =>
    sentences(issue, schema).map((sentence) => `${path}: ${place(issue.path)}${sentence}`),
  );
  return { value: undefined, problems };
}

/** Several hundred pools may share one template by an alias; a few lines that unfold into millions are refused. */
const MOST_ALIASES = 10_000;

/** Aliases and merge keys (`<<`) are followed; one that leads nowhere is found only then. */
function readYaml(source: string): { content?: unknown; errors: string[] } {
  const document = parseDocument(source, { merge: true });
  if (document.errors.length > 0) return { errors: document.errors.map(({ message }) => message) };
  try {
    return { content: document.toJS({ maxAliasCount: MOST_ALIASES }), errors: [] };
  } catch (error) {
    return { errors: [error instanceof Error ? error.message : String(error)] };
  }
}

const place = (path: readonly PropertyKey[]): string => (path.length === 0 ? '' : `${path.map(String).join('.')}: `);

/** The value itself is not shown: it may be a secret at the wrong place. */
function sayWhatIsWanted({ code, input, expected }: z.core.$ZodRawIssue): string | undefined {
  if (code !== 'invalid_type') return undefined;
  if (input === undefined) return 'is missing';
  const wanted = IN_YAML.get(String(expected));
  return wanted === undefined ? undefined : `must be ${wanted}, and is ${IN_YAML.get(z.util.getParsedType(input)) ?? 'empty'}`;
}

/** Types in the words of whoever writes YAML; the library's are a programmer's. */
const IN_YAML: ReadonlyMap<string, string> = new Map([
  ['array', 'a list'],
  ['object', 'a mapping'],
  ['record', 'a mapping'],
  ['string', 'text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
]);

function sentences(issue: z.core.$ZodIssue, schema: z.ZodType): string[] {
  if (issue.code !== 'unrecognized_keys') return [issue.message];
  const known = keysAt(schema, issue.path);
  return issue.keys.map((key) => {
    const meant = closestName(key, known);
    return `there is no key \`${key}\` here${meant === undefined ? '' : `; did you mean \`${meant}\`?`}`;
  });
}

/** The keys that the schema knows at a place. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let node: JsonSchema | boolean | undefined = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  for (const step of path) {
    if (typeof node !== 'object') return [];
    if (typeof step === 'number') node = Array.isArray(node.items) ? node.items[step] : node.items;
    else node = node.properties?.[String(step)] ?? node.additionalProperties;
  }
  return typeof node === 'object' ? Object.keys(node.properties ?? {}) : [];
}

type JsonSchema = z.core.JSONSchema.JSONSchema;
