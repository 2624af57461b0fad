import { ConfigError } from './config-error.ts';
import { readRules, type Sections, type ValuesOfSections } from './rules.ts';
import {
  type Declarations,
  type Environment,
  printSettings,
  readSettings,
  type SettingsOf,
} from './settings.ts';

/** What a program reads from its environment. */
interface Declared<D extends Declarations, S extends Sections> {
  readonly settings: D;
  readonly rules: S;
}

/**
 * Reads a service's settings and rules, then what depends on them (files, secrets). Throws one
 * ConfigError with every problem. `rest` gets only the settings that could be read, hence Partial,
 * and adds its own problems to the list.
 */
export function readConfig<D extends Declarations, S extends Sections, R extends object>(
  declared: Declared<D, S>,
  environment: Environment,
  rest: (given: Partial<SettingsOf<D>> & ValuesOfSections<S>, problems: string[]) => R | undefined,
): Readonly<SettingsOf<D> & ValuesOfSections<S> & R> {
  const { values, problems } = readSettings(declared.settings, environment);
  const rules = readRules(declared.rules, environment, problems);
  const isOfFiles = problems.length === 0;
  const more = rest({ ...values, ...rules }, problems);
  if (problems.length > 0 || more === undefined) throw new ConfigError(problems, isOfFiles);
  return Object.freeze({ ...values, ...rules, ...more });
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
