import { z } from 'zod';
import { closestName } from './closest-name.ts';
import { type ReadFile, readText } from './file-reading.ts';
import { readYaml } from './read-yaml.ts';
import { sayWhatIsWanted } from './yaml-words.ts';

/** The content of a YAML file. */
export interface ReadYaml<T> {
  /** Undefined if there are problems. */
  readonly value: T | undefined;
  /** As written in the file, without the schema's defaults. */
  readonly written?: unknown;
  readonly problems: string[];
}

/**
 * Reads one YAML file with a schema. Problems name the file and the place in it; a bad file does
 * not throw.
 */
export function readYamlFile<T>(
  path: string,
  schema: z.ZodType<T>,
  readFile: ReadFile = readText,
): ReadYaml<T> {
  let source: string;
  try {
    source = readFile(path);
  } catch (error) {
    return {
      value: undefined,
      problems: [
        `the configuration file ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      ],
    };
  }
  return parseYaml(path, source, schema);
}

/** As `readYamlFile`, for a given text; `path` is only for the messages. */
export function parseYaml<T>(path: string, source: string, schema: z.ZodType<T>): ReadYaml<T> {
  const { content, errors } = readYaml(source);
  if (errors.length > 0)
    return { value: undefined, problems: errors.map((error) => `${path}: ${error}`) };
  const parsed = schema.safeParse(content ?? {}, { error: sayWhatIsWanted });
  if (parsed.success) return { value: parsed.data, written: content, problems: [] };
  const problems = withoutAfterthoughts(parsed.error.issues).flatMap((issue) =>
    sentences(issue, schema).map((sentence) => `${path}: ${place(issue.path)}${sentence}`),
  );
  return { value: undefined, problems };
}

/** A value of the wrong type has only this problem: that it is also too long would mislead. */
function withoutAfterthoughts(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const mistyped = new Set(
    issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => place(path)),
  );
  return issues.filter(({ code, path }) => code === 'invalid_type' || !mistyped.has(place(path)));
}

const place = (path: readonly PropertyKey[]): string =>
  path.length === 0 ? '' : `${path.map(String).join('.')}: `;

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
  let node: JsonSchema | boolean | undefined = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
  });
  for (const step of path) {
    if (typeof node !== 'object') return [];
    if (typeof step === 'number') node = Array.isArray(node.items) ? node.items[step] : node.items;
    else node = node.properties?.[String(step)] ?? node.additionalProperties;
  }
  return typeof node === 'object' ? Object.keys(node.properties ?? {}) : [];
}

type JsonSchema = z.core.JSONSchema.JSONSchema;
