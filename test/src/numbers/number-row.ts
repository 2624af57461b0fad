import { dbRules } from '@paddock/db/rules';
import type { Database } from '@paddock/db/schema/tables';
import { ingressRules } from '@paddock/ingress/rules';
import { queueRules } from '@paddock/queue/rules';
import { reconcilerRules } from '@paddock/reconciler/rules';
import type { Rules } from '@paddock/runtime/rules';
import { schedulerRules } from '@paddock/scheduler/rules';
import type { Kysely } from 'kysely';

/** A number that a promise rests on. */
export interface NumberRow {
  /** The promise, by its id in docs/requirements.md. */
  readonly id: string;
  /** With its unit, as people say it: `8 s`, `25 MB`, `180 a minute`. */
  readonly number: string;
  readonly what: string;
  readonly home: Home;
}

/**
 * Where a number lives: one of these is read, in milliseconds or bytes, and held against the row.
 */
export type Home = SettingHome | CodeHome | DatabaseHome | TestHome;

interface SettingHome {
  /** The name in the environment. Its default counts, in each service that has it. */
  readonly setting: string;
}

interface CodeHome {
  /** The name of the code's constant, and its file. */
  readonly code: string;
  readonly read: () => number | undefined;
}

interface DatabaseHome {
  readonly database: string;
  readonly ask: (db: Kysely<Database>) => Promise<number | undefined>;
}

interface TestHome {
  /** The file of a test that reaches the number, at its bound. */
  readonly test: string;
  readonly file: string;
}

export const row = (id: string, number: string, what: string, home: Home): NumberRow => ({
  id,
  number,
  what,
  home,
});
export const setting = (name: string): SettingHome => ({ setting: name });
export const code = (name: string, read: () => number | undefined): CodeHome => ({
  code: name,
  read,
});
const RULES = {
  ingress: { file: 'apps/ingress/src/rules.ts', rules: ingressRules },
  scheduler: { file: 'apps/scheduler/src/rules.ts', rules: schedulerRules },
  reconciler: { file: 'apps/reconciler/src/rules.ts', rules: reconcilerRules },
  db: { file: 'packages/db/src/rules.ts', rules: dbRules },
  queue: { file: 'packages/queue/src/rules.ts', rules: queueRules },
};

export function rule(section: keyof typeof RULES, key: string): CodeHome {
  const { file, rules }: { file: string; rules: Rules } = RULES[section];
  return code(`${key} in ${file}`, () => amountOfValue(key, rules[key]?.value ?? NaN));
}

export const database = (name: string, ask: DatabaseHome['ask']): DatabaseHome => ({
  database: name,
  ask,
});
export const testOf = (file: string, test: string): TestHome => ({ test, file });

const MS = { MS: 1, SECONDS: 1_000, MINUTES: 60_000, HOURS: 3_600_000, DAYS: 86_400_000 } as const;

/** Milliseconds and bytes; any other word after a number names the counted thing. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['s', MS.SECONDS],
  ['min', MS.MINUTES],
  ['h', MS.HOURS],
  ['d', MS.DAYS],
  ['KB', 1024],
  ['MB', 1024 ** 2],
]);

/**
 * A number as people say it in milliseconds, in bytes, or as it is: `8 s` is 8 000, `180 a minute`
 * is 180.
 */
export function amountOf(text: string): number {
  const [, digits, unit] = /^(\d+(?: \d{3})*(?:\.\d+)?)(?: (\S.*))?$/.exec(text) ?? [];
  if (digits === undefined)
    throw new Error(`${JSON.stringify(text)} is not a number with its unit.`);
  return Number(digits.replaceAll(' ', '')) * (UNITS.get(unit ?? '') ?? 1);
}

/**
 * The value of a setting or a rule in milliseconds, in bytes, or as it is: its name ends in its
 * unit.
 */
export const amountOfValue = (name: string, value: number): number =>
  value * (Object.entries(MS).find(([unit]) => name.toUpperCase().endsWith(unit))?.[1] ?? 1);
