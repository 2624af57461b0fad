import { z } from 'zod';
import type { Logger } from './logger.ts';
import type { Environment } from './settings.ts';
import { parseYaml, readYamlFile } from './yaml-file.ts';

/** A number that no operator has a reason to change. Another value must be whole and in the range. */
export interface Rule {
  readonly value: number;
  readonly min: number;
  readonly max: number;
}

export type Rules = Readonly<Record<string, Rule>>;

/** The variable from which processes under test read other values: JSON, or `@FILE`. */
const VARIABLE = 'PADDOCK_RULES';

/** The `rules.ts` of each package or app. One variable serves all services. */
const SECTIONS = [
  'ingress',
  'scheduler',
  'reconciler',
  'console',
  'queue',
  'db',
  'github',
  'kube',
] as const;

/** The rules that a service obeys, by section. */
export type Sections = Readonly<Partial<Record<(typeof SECTIONS)[number], Rules>>>;

type KeysOf<R> = R extends unknown ? keyof R : never;
export type ValuesOf<R extends Rules> = { readonly [K in keyof R]: number };
export type ValuesOfSections<S> = { readonly [K in KeysOf<S[keyof S]>]: number };

/** The values in the code. */
export const valuesOf = <R extends Rules>(rules: R): ValuesOf<R> =>
  Object.fromEntries(Object.entries(rules).map(([key, { value }]) => [key, value])) as ValuesOf<R>;

/**
 * The values of all sections, those of the variable first. Adds a problem for each unknown section,
 * and within the given sections for each unknown key and each value out of its range.
 */
export function readRules<S extends Sections>(
  sections: S,
  environment: Environment,
  problems: string[],
): ValuesOfSections<S> {
  const text = environment[VARIABLE] ?? '';
  const schema = schemaOf(sections);
  const read = text.startsWith('@')
    ? readYamlFile(text.slice(1), schema)
    : parseYaml(VARIABLE, text, schema);
  problems.push(...read.problems);
  return Object.assign(
    {},
    ...Object.values(sections).map(valuesOf),
    ...Object.keys(sections).map((name) => read.value?.[name]),
  ) as ValuesOfSections<S>;
}

/** JSON is YAML, and the reader of YAML tells what is wrong, and where. */
const schemaOf = (sections: Sections) =>
  z.strictObject(
    Object.fromEntries(
      SECTIONS.map((name) => [name, sectionSchema(sections[name]).optional()] as const),
    ),
  );

const sectionSchema = (rules: Rules | undefined): z.ZodType<Record<string, unknown>> =>
  rules === undefined
    ? z.looseObject({})
    : z.strictObject(
        Object.fromEntries(
          Object.entries(rules).map(
            ([key, { min, max }]) => [key, z.int().min(min).max(max).optional()] as const,
          ),
        ),
      );

/** Warns at a service's start if it does not obey the code's own rules. */
export function warnOfRules(environment: Environment, log: Logger): void {
  const rules = environment[VARIABLE] ?? '';
  if (rules !== '')
    log.warn(`${VARIABLE} changes rules of this service, as only tests may: unset it`, {
      rules,
    });
}

/** Values of rules, by section and key. */
export type RuleValues = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The variable that gives a process under test these rules. Of two sets, the later one counts. */
export function rulesVariable(...sets: readonly RuleValues[]): { PADDOCK_RULES: string } {
  const rules: Record<string, object> = {};
  for (const [section, values] of sets.flatMap((set) => Object.entries(set)))
    rules[section] = { ...rules[section], ...values };
  return { [VARIABLE]: JSON.stringify(rules) };
}
