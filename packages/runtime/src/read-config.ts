import { ConfigError } from './config-error.ts';
import {
  type Declarations,
  type Environment,
  printSettings,
  readSettings,
  type SettingsOf,
} from './settings.ts';

/**
 * Reads a service's settings, then what depends on them (files, secrets). Throws one ConfigError
 * with every problem of both. `rest` gets only the settings that could be read, hence Partial, and
 * adds its own problems to the list.
 */
export function readConfig<D extends Declarations, R extends object>(
  declared: D,
  environment: Environment,
  rest: (settings: Partial<SettingsOf<D>>, problems: string[]) => R | undefined,
): Readonly<SettingsOf<D> & R> {
  const { values, problems } = readSettings(declared, environment);
  const more = rest(values, problems);
  if (problems.length > 0 || more === undefined) throw new ConfigError(problems);
  return Object.freeze({ ...values, ...more });
}

/**
 * True if the command line asks for the values in force. They are then printed, secrets masked, and
 * the service does not start. An option outside `others` and this one is a configuration problem.
 */
export function printConfigIfAsked(
  argv: readonly string[],
  declared: Declarations,
  config: Readonly<Record<string, unknown>>,
  others: readonly string[] = [],
): boolean {
  const known = ['--print-config', ...others];
  const unknown = argv.slice(2).filter((option) => option !== '--' && !known.includes(option));
  if (unknown.length > 0)
    throw new ConfigError(
      unknown.map((option) => `${option} is not an option; there is ${known.join(', ')}`),
    );
  if (!argv.includes('--print-config')) return false;
  process.stdout.write(`${printSettings(declared, config)}\n`);
  return true;
}
