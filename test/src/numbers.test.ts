import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { dbRules } from '@paddock/db/rules';
import {
  failureClass,
  pausesOf,
  USUAL_FAILURE_RULES,
} from '@paddock/domain/matching/failure-classes';
import { MOST_UNSCHEDULABLE } from '@paddock/domain/matching/matching-rules';
import { DEFAULT_DEADLINES } from '@paddock/domain/pools/pool';
import { USUAL_MAX_WORKERS } from '@paddock/domain/pools/entities';
import { SWEEP_ATTEMPTS } from '@paddock/domain/tasks/sweep-names';
import { NOT_ASSIGNED } from '@paddock/domain/workers/stop-reasons';
import { LOOK_EVERY_MS } from '@paddock/github/follow-apps';
import { PER_PAGE } from '@paddock/github/read-pages';
import { GROUP_LIFETIME_MS } from '@paddock/github/runner-groups';
import { settings as ingress } from '@paddock/ingress/config';
import { ingressRules } from '@paddock/ingress/rules';
import { WATCH_SECONDS } from '@paddock/kube/watch-pods';
import { beatMs } from '@paddock/queue/claim-tasks';
import { DEFAULT_MAX_ATTEMPTS, DEFAULT_MAX_CRASHES } from '@paddock/queue/enqueue';
import { queueRules } from '@paddock/queue/rules';
import { KEEP_MONTHS } from '@paddock/queue/operations';
import { settings as reconciler } from '@paddock/reconciler/config';
import { lookBackMs } from '@paddock/reconciler/redelivery/redeliver';
import { reconcilerRules } from '@paddock/reconciler/rules';
import { HOUR_SECONDS } from '@paddock/reconciler/schedules/sweep-schedules';
import type { Rules } from '@paddock/runtime/rules';
import type { Setting } from '@paddock/runtime/settings';
import { settings as scheduler } from '@paddock/scheduler/config';
import { LARGEST_DIAGNOSIS_BYTES } from '@paddock/scheduler/following/diagnosis';
import { TAIL_LINES } from '@paddock/scheduler/following/examine-pod';
import { NAMESPACES_MS } from '@paddock/scheduler/following/follow-pods';
import { schedulerRules } from '@paddock/scheduler/rules';
import { MOST_RUNS } from '@paddock/scheduler/stopping/read-evidence';

const RULES: Readonly<Record<string, Rules>> = {
  'apps/ingress/src/rules.ts': ingressRules,
  'apps/scheduler/src/rules.ts': schedulerRules,
  'apps/reconciler/src/rules.ts': reconcilerRules,
  'packages/db/src/rules.ts': dbRules,
  'packages/queue/src/rules.ts': queueRules,
};

/** What is neither a rule nor a setting, by its name on the page. */
const CONSTANTS: Readonly<Record<string, unknown>> = {
  ...DEFAULT_DEADLINES,
  DEFAULT_MAX_ATTEMPTS,
  DEFAULT_MAX_CRASHES,
  GROUP_LIFETIME_MS,
  HOUR_SECONDS,
  KEEP_MONTHS,
  LARGEST_DIAGNOSIS_BYTES,
  LOOK_EVERY_MS,
  MOST_RUNS,
  MOST_UNSCHEDULABLE,
  NAMESPACES_MS,
  PER_PAGE,
  SWEEP_ATTEMPTS,
  TAIL_LINES,
  USUAL_MAX_WORKERS,
  WATCH_SECONDS,
  beatMs: beatMs(queueRules.taskLeaseMs.value),
  'failureClass.strikes': failureClass('').strikes,
  lookBackMs: lookBackMs(0, 1) / 1_000,
  'pausesOf.firstPauseMs': pausesOf(NOT_ASSIGNED, USUAL_FAILURE_RULES).firstPauseMs,
  'pausesOf.longestPauseMs': pausesOf(NOT_ASSIGNED, USUAL_FAILURE_RULES).longestPauseMs,
};

const UNITS = { MS: 1, SECONDS: 1_000, MINUTES: 60_000, HOURS: 3_600_000, DAYS: 86_400_000 };
const UNITS_OF_PEOPLE: Readonly<Record<string, number>> = {
  s: UNITS.SECONDS,
  min: UNITS.MINUTES,
  h: UNITS.HOURS,
  d: UNITS.DAYS,
  KB: 1024,
  MB: 1024 ** 2,
};

/** `8 s` in milliseconds, `25 MB` in bytes; `180 a minute` is 180. */
function amountOf(text: string): number {
  const [, digits = '', unit = ''] = /^([\d .]*\d)(?: (\S.*))?$/.exec(text) ?? [];
  return Number(digits.replaceAll(' ', '')) * (UNITS_OF_PEOPLE[unit] ?? 1);
}

/** A value of the code in milliseconds, in bytes, or as it is: its name ends in its unit. */
function amountOfValue(name: string, value: unknown): number {
  const unit = Object.entries(UNITS).find(([suffix]) => name.toUpperCase().endsWith(suffix));
  return Number(value) * (unit?.[1] ?? 1);
}

/** The default of a setting, in each service that has it. */
const defaultsOf = (name: string): unknown[] =>
  [ingress, scheduler, reconciler]
    .flatMap((declared) => Object.values<Setting<unknown>>(declared))
    .filter(({ env }) => env === name)
    .map((setting) => setting.default);

const page = readFileSync(join(import.meta.dirname, '../../docs/numbers.md'), 'utf8');
const rows = [...page.matchAll(/^\| (.+?) +\| (\d.*?) +\| (.+?) +\| (\w\d+) +\|$/gm)].map(
  ([, what = '', number = '', where = '', promise = '']) => {
    const [name = '', file = ''] = [...where.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
    return { what, number, promise, name, file, isHeldByTest: where.startsWith('tested by ') };
  },
);

test.each(rows.filter(({ isHeldByTest }) => !isHeldByTest))(
  '$what $number ($promise)',
  ({ number, name, file }) => {
    const values = file === '' ? defaultsOf(name) : [RULES[file]?.[name]?.value ?? CONSTANTS[name]];
    expect([...new Set(values.map((value) => amountOfValue(name, value)))]).toEqual([
      amountOf(number),
    ]);
  },
);

test('each number serves a promise of docs/requirements.md, and the page has them all', () => {
  const requirements = readFileSync(
    join(import.meta.dirname, '../../docs/requirements.md'),
    'utf8',
  );
  expect(rows.filter(({ promise }) => !requirements.includes(`**${promise}**`))).toEqual([]);
  expect(rows).toHaveLength(page.match(/^\| (?!What|-)/gm)?.length ?? 0);
});
