import { inspect } from 'node:util';
import { type ReadFile, readText } from './file-reading.ts';

const MASK = '[secret]';

/**
 * Holds a value that must not be printed. Logs, JSON, templates and inspect show a mask; only
 * `reveal()` gives the value.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}

/**
 * Reads a secret from the place that the configuration file names. A problem goes into the list;
 * the value never does.
 */
export function readSecret(
  what: string,
  source: { env: string } | { file: string } | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  problems: string[],
  readFile: ReadFile = readText,
): Secret | undefined {
  if (source === undefined) {
    problems.push(`${what} is not configured`);
    return undefined;
  }
  if ('env' in source) {
    const value = environment[source.env] ?? '';
    if (value === '')
      problems.push(`${what} is read from the variable ${source.env}, which is not set`);
    return value === '' ? undefined : new Secret(value);
  }
  try {
    const value = readFile(source.file).trim();
    if (value === '') problems.push(`${what} is read from the file ${source.file}, which is empty`);
    return value === '' ? undefined : new Secret(value);
  } catch (error) {
    problems.push(
      `${what} cannot be read from the file ${source.file}: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
}
