import { z } from 'zod';
import { closestName } from './closest-name.ts';
import { type ReadFile, readText } from './file-reading.ts';
import { type Document, isScalar, LineCounter, parseDocument, visit } from 'yaml';

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
  return checkContent(path, content, schema);
}

/** As `parseYaml`, for what a text says. */
export function checkContent<T>(path: string, content: unknown, schema: z.ZodType<T>): ReadYaml<T> {
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
    return `there is no key \`${brief(key)}\` here${meant === undefined ? '' : `; did you mean \`${meant}\`?`}`;
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

/** A thousand pools have 300 KB if they share their common parts. */
const MOST_CHARACTERS = 512 * 1024;

/** Hundreds of pools may share one template, but a few lines must not unfold into millions. */
const MOST_ALIASES = 10_000;

/**
 * The content of a YAML text with aliases and merge keys (`<<`) followed, or all its problems with
 * their lines.
 */
export function readYaml(source: string): { content?: unknown; errors: string[] } {
  if (source.length > MOST_CHARACTERS)
    return { errors: [`there are more than ${MOST_CHARACTERS} characters`] };
  const lineCounter = new LineCounter();
  const document = parseDocument(source, {
    merge: true,
    lineCounter,
    prettyErrors: false,
    logLevel: 'error',
    // The library compares each key with all before it: an hour for a file of this length.
    uniqueKeys: false,
  });
  const errors = document.errors.map(({ code, message, pos: [position] }) => {
    const said =
      code === 'MULTIPLE_DOCS' ? 'a second document begins (---); there must be one' : message;
    return `line ${lineCounter.linePos(position).line}: ${brief(said)}`;
  });
  for (const position of repeatedKeys(document))
    errors.push(`line ${lineCounter.linePos(position).line}: Map keys must be unique`);
  if (errors.length > 0) return { errors };
  try {
    return { content: withoutHolders(document.toJS({ maxAliasCount: MOST_ALIASES })), errors };
  } catch (error) {
    return { errors: [brief(error instanceof Error ? error.message : String(error))] };
  }
}

/** Where a key stands in a mapping that has it before. */
function repeatedKeys(document: Document): number[] {
  const positions: number[] = [];
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) positions.push(key.range?.[0] ?? 0);
        seen.add(key.value);
      }
    },
  });
  return positions;
}

/** What a file says may be long, and its problems are lines of a log. */
const brief = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)}…` : text);

/**
 * Top-level keys that begin with `x-` belong to the writer, as in many other files: a place for
 * shared anchors.
 */
function withoutHolders(content: unknown): unknown {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return content;
  return Object.fromEntries(Object.entries(content).filter(([key]) => !key.startsWith('x-')));
}

/**
 * Describes the problem of a value in the words of someone who writes YAML. Does not show the
 * value: it may be a secret at the wrong place.
 */
function sayWhatIsWanted(issue: z.core.$ZodRawIssue): string | undefined {
  const { code, input } = issue;
  if (code === 'invalid_type')
    return input === undefined ? 'is missing' : wantedType(String(issue.expected), input);
  if (code === 'invalid_value') return `must be ${issue.values.map(String).join(' or ')}`;
  if (code === 'too_small' && issue.origin === 'string' && issue.minimum === 1)
    return 'must not be empty';
  if (code === 'too_small') return `must ${AMOUNT[issue.origin] ?? 'be'} at least ${issue.minimum}`;
  return code === 'too_big'
    ? `must ${AMOUNT[issue.origin] ?? 'be'} at most ${issue.maximum}`
    : undefined;
}

const AMOUNT: Readonly<Record<string, string>> = {
  string: 'have a length of',
  array: 'have a length of',
};

function wantedType(expected: string, input: unknown): string | undefined {
  const wanted = TYPES.get(expected);
  if (wanted === undefined) return undefined;
  if (expected === 'int' && typeof input === 'number') return `must be ${wanted}`;
  return `must be ${wanted}, and is ${TYPES.get(z.util.getParsedType(input)) ?? 'empty'}${quotesToMend(expected, input)}`;
}

/** YAML reads 1.20 as a number and "5" as text: the quotes are the mistake. */
function quotesToMend(expected: string, input: unknown): string {
  if (expected === 'string')
    return typeof input === 'number' || typeof input === 'boolean' ? ': put it in quotes' : '';
  if (typeof input !== 'string') return '';
  const isMeant =
    expected === 'boolean' ? /^(?:true|false)$/.test(input) : /^-?\d+(?:\.\d+)?$/.test(input);
  return isMeant ? ': leave out the quotes' : '';
}

/** The library's names of types are a programmer's words. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['array', 'a list'],
  ['object', 'a mapping'],
  ['record', 'a mapping'],
  ['string', 'text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
]);
