import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { dbRules } from '@paddock/db/rules';
import { pausesOf, USUAL_FAILURE_RULES } from '@paddock/domain/matching/failure-classes';
import { NOT_ASSIGNED } from '@paddock/domain/workers/stop-reasons';
import { beatMs } from '@paddock/queue/claim-tasks';
import { queueRules } from '@paddock/queue/rules';
import { lookBackMs } from '@paddock/reconciler/redelivery/pass-over-log';
import { reconcilerRules } from '@paddock/reconciler/rules';
import { HOUR_SECONDS } from '@paddock/queue/sweep-schedules';
import { valuesOf } from '@paddock/runtime/rules';

const read = (path: string): string =>
  readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

/** What follows from other numbers, by its name on the page. */
const COMPUTED: Readonly<Record<string, number>> = {
  HOUR_SECONDS: HOUR_SECONDS * 1_000,
  beatMs: beatMs(queueRules.taskLeaseMs.value),
  lookBackMs: lookBackMs(0, 1) / 1_000,
  'pausesOf.firstPauseMs': pausesOf(NOT_ASSIGNED, USUAL_FAILURE_RULES).firstPauseMs,
  'pausesOf.longestPauseMs': pausesOf(NOT_ASSIGNED, USUAL_FAILURE_RULES).longestPauseMs,
};

/** Rules whose values the file with the rules does not spell out. */
const RULES: Readonly<Record<string, number>> = {
  ...valuesOf(dbRules),
  ...valuesOf(reconcilerRules),
};

const UNITS: Readonly<Record<string, number>> = {
  MS: 1,
  SECOND: 1_000,
  SECONDS: 1_000,
  MINUTE: 60_000,
  HOUR: 3_600_000,
  HOURS: 3_600_000,
  DAY: 86_400_000,
  DAYS: 86_400_000,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  KB: 1024,
  MB: 1024 ** 2,
};

/** `8 s` in milliseconds, `25 MB` in bytes; `180 a minute` is 180. */
function amountOf(text: string): number {
  const [, digits = '', unit = ''] = /^([\d .]*\d)(?: (\S.*))?$/.exec(text) ?? [];
  return Number(digits.replaceAll(' ', '')) * (UNITS[unit] ?? 1);
}

/** `7 * DAY_MS`: a product of numbers and of units. */
const productOf = (text: string): number =>
  text
    .split(' * ')
    .reduce(
      (product, part) =>
        product * (UNITS[part.replace('_MS', '')] ?? Number(part.replaceAll('_', ''))),
      1,
    );

/** A value where a file declares it, as it is written there. */
const declaredIn = (file: string, name: string): string | undefined =>
  new RegExp(
    String.raw`^\s*(?:export )?(?:const )?${name.split('.').at(-1)}(?: =|:)(?: \{ value:)? ([\d_A-Z* ]+)`,
    'm',
  ).exec(read(file))?.[1];

/** The default of a setting, by the table of settings. */
const defaultOf = (name: string): string | undefined =>
  new RegExp(`^\\| \`${name}\` \\| \`(\\d+)\``, 'm').exec(read('docs/settings.md'))?.[1];

/** A value of the code in milliseconds, in bytes, or as it is: its name ends in its unit. */
function valueOf(name: string, file: string): number {
  const computed = COMPUTED[name];
  if (computed !== undefined) return computed;
  const unit = /_?(ms|seconds|hours|days)$/i.exec(name)?.[1]?.toUpperCase() ?? 'MS';
  const text = file === '' ? defaultOf(name) : declaredIn(file, name);
  const written = productOf(text?.trim() ?? '');
  const value = written > 0 ? written : RULES[name];
  if (value === undefined)
    throw new Error(
      `There is no ${name} in ${file || 'docs/settings.md'}: mend its row of numbers.md`,
    );
  return value * (UNITS[unit] ?? 1);
}

const page = read('docs/numbers.md');
const rows = [...page.matchAll(/^\| (.+?) +\| (\d.*?) +\| (.+?) +\| (\w\d+) +\|$/gm)].map(
  ([, what = '', number = '', where = '', promise = '']) => {
    const [name = '', file = ''] = [...where.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
    return { what, number, promise, name, file, isHeldByTest: where.startsWith('tested by ') };
  },
);

test.each(rows.filter(({ isHeldByTest }) => !isHeldByTest))(
  '$what $number ($promise)',
  ({ number, name, file }) => {
    expect(valueOf(name, file)).toBe(amountOf(number));
  },
);

test('each number serves a promise of docs/requirements.md, and the page has them all', () => {
  const requirements = read('docs/requirements.md');
  expect(rows.filter(({ promise }) => !requirements.includes(`**${promise}**`))).toEqual([]);
  expect(rows).toHaveLength(page.match(/^\| (?!What|-)/gm)?.length ?? 0);
});
