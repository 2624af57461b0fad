import { z } from 'zod';
import { closestName } from './closest-name.ts';
import { Secret } from './secret.ts';

/**
 * One setting: its variable, its meaning, its allowed values. Each service declares it once, and
 * its type follows.
 */
export interface Setting<T> {
  readonly env: string;
  /** Other accepted names, tried in order when `env` is not set. */
  readonly aliases?: readonly string[];
  readonly doc: string;
  readonly schema: z.ZodType<T, string>;
  /** Absent: the setting is required. */
  readonly default?: T;
  /** The allowed values, in words. */
  readonly range?: string;
  /** Its value is never shown, not even a wrong one. */
  readonly secret?: true;
}

export type Declarations = Readonly<Record<string, Setting<unknown>>>;
export type SettingsOf<D extends Declarations> = {
  readonly [K in keyof D]: D[K] extends Setting<infer T> ? T : never;
};
export type Environment = Readonly<Record<string, string | undefined>>;

interface Common<T> {
  env: string;
  doc: string;
  default?: T;
  aliases?: readonly string[];
}

/**
 * A whole number with its bounds. The name ends in its unit (`_MS`, `_SECONDS`, `_BYTES`) unless it
 * is a plain count.
 */
export function integer(options: Common<number> & { min: number; max: number }): Setting<number> {
  const { min, max, ...rest } = options;
  const schema = z
    .string()
    .regex(/^-?\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be between ${min} and ${max}`);
  return { ...rest, schema, range: `${min} to ${max}` };
}

export const DAY_MS = 86_400_000;

/** A time in milliseconds, at most a day unless `max` says otherwise. */
export const duration = ({
  min = 0,
  max = DAY_MS,
  ...rest
}: Common<number> & { min?: number; max?: number }): Setting<number> =>
  integer({ ...rest, min, max });

/** A port to listen on. */
export const port = (options: Common<number>): Setting<number> =>
  integer({ ...options, min: 0, max: 65_535 });

export function text(
  options: Common<string> & { pattern?: RegExp; hint?: string },
): Setting<string> {
  const { pattern, hint, ...rest } = options;
  const schema = pattern
    ? z.string().regex(pattern, hint ?? `must match ${pattern.source}`)
    : z.string().min(1, 'must not be empty');
  return { ...rest, schema };
}

export function choice<const T extends string>(
  options: Common<T> & { of: readonly [T, ...T[]] },
): Setting<T> {
  const { of, ...rest } = options;
  return { ...rest, schema: z.enum(of, `must be one of ${of.join(', ')}`), range: of.join(', ') };
}

/** A value that is never printed, without the space around it. A secret has no default. */
export function secret(
  options: Omit<Common<Secret>, 'default'> & { check?: (value: string) => string | undefined },
): Setting<Secret> {
  const { check, ...rest } = options;
  const schema = z
    .string()
    .trim()
    .superRefine((value, context) => {
      const problem = check?.(value);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    });
  return { ...rest, secret: true, schema: schema.transform((value) => new Secret(value)) };
}

/** A setting that may be left out. */
export function optional<T>(setting: Setting<T>): Setting<T | undefined> {
  return { ...setting, default: undefined, schema: setting.schema };
}

/**
 * Reads all settings from an environment. `values` lacks those with a problem: if there are
 * problems, the caller must stop. An empty variable counts as not set. A name that is nearly a
 * setting's name is a problem too.
 */
export function readSettings<D extends Declarations>(
  declared: D,
  environment: Environment,
): { values: SettingsOf<D>; problems: string[] } {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  const names = new Set<string>();
  for (const [key, setting] of Object.entries(declared)) {
    for (const name of [setting.env, ...(setting.aliases ?? [])]) names.add(name);
    const given = [setting.env, ...(setting.aliases ?? [])].find(
      (name) => (environment[name] ?? '') !== '',
    );
    if (given === undefined) {
      if ('default' in setting) values[key] = setting.default;
      else problems.push(`${setting.env} is not set: ${setting.doc}`);
      continue;
    }
    const parsed = setting.schema.safeParse(environment[given]);
    if (parsed.success) values[key] = parsed.data;
    else
      problems.push(
        `${given} ${parsed.error.issues.map((issue) => issue.message).join(' and ')}${setting.secret ? '' : `, and is ${JSON.stringify(environment[given])}`}`,
      );
  }
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('PADDOCK_') || names.has(name)) continue;
    const meant = closestName(name, names);
    if (meant !== undefined) problems.push(`${name} is not a setting: did you mean ${meant}?`);
  }
  return { values: Object.freeze(values) as SettingsOf<D>, problems };
}

/** The values in force as lines of a table in the order of declaration, secrets masked. */
export function printSettings(
  declared: Declarations,
  values: Readonly<Record<string, unknown>>,
): string {
  return Object.entries(declared)
    .map(([key, setting]) => `${setting.env}=${printed(values[key])}`)
    .join('\n');
}

const printed = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '').replaceAll('"', '');
