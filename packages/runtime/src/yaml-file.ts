import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import type { z } from 'zod';

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
  const document = parseDocument(source);
  if (document.errors.length > 0)
    return { value: undefined, problems: document.errors.map((error) => `${path}: ${error.message.split('\n')[0] ?? ''}`) };
  const parsed = schema.safeParse(document.toJS() ?? {});
  if (parsed.success) return { value: parsed.data, problems: [] };
  return { value: undefined, problems: parsed.error.issues.map((issue) => `${path}: ${place(issue.path)}${issue.message}`) };
}

const place = (path: readonly PropertyKey[]): string => (path.length === 0 ? '' : `${path.map(String).join('.')}: `);
