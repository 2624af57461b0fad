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
 * Reads a secret from the place that the configuration file names, without white space around it:
 * what wrote the variable or the file often ends it with a line break. A problem goes into the list;
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
  const [place, isMissing] =
    'env' in source
      ? [`variable ${source.env}`, 'which is not set']
      : [`file ${source.file}`, 'which is empty'];
  try {
    const text = 'env' in source ? (environment[source.env] ?? '') : readFile(source.file);
    const value = text.trim();
    if (value === '') problems.push(`${what} is read from the ${place}, ${isMissing}`);
    return value === '' ? undefined : new Secret(value);
  } catch (error) {
    problems.push(
      `${what} cannot be read from the ${place}: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
}
