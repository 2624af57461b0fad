import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { RULES, RULES_FILE, rulesOf } from '../scenes/alert-rules.scene.ts';
import { complaintsAbout } from '../scenes/promql.scene.ts';
import {
  complaintsOnPlaying,
  PROMTOOL,
  readTapes,
  runPromtool,
  TAPES,
} from '../scenes/promtool.scene.ts';
import { STATES } from '../scenes/states.scene.ts';

const described = PROMTOOL === undefined ? describe.skip : describe;

/**
 * The alerts that fire while the services run with a fault of the matrix, and then clear, by the
 * tapes that `bench faults --tape` writes. A burst of late work may have tasks wait, too.
 */
const IN_FAULTS: Readonly<Record<string, string>> = {
  'none-for-an-hour': '',
  'api-server-away': 'DependencyAway JobsStarved RunnersStartSlowly StartsLateFast',
  'github-hangs': 'JobsStarved RunnersStartSlowly StartsLateFast TasksWait',
  'github-refuses': 'DependencyAway JobsStarved StartsLateFast',
  'ingress-down': 'ServiceDown StartsLateFast',
  'postgres-restarts': 'DatabaseAway StartsLateFast',
  'registrations-of-one-fail': 'JobsStarved KeysFailing RunnersStartSlowly StartsLateFast',
  'repository-refuses': 'JobsStarved Refused RunnersStartSlowly StartsLateFast',
  'runs-of-one-fail': 'StartsLateFast SweepsReachNotAll TasksWait',
  'wrong-secret': 'DeliveriesLost DeliveriesStale PoolSaturated RunnersStartSlowly',
};

/** The same while a fault stands that `STATES` brings about, by the tapes in states.json. */
const IN_STATES: Readonly<Record<keyof typeof STATES, string>> = {
  'app-unfit': 'AppUnfit',
  'budget-used-up': 'BudgetUsedUp JobsStarved StartsLateFast',
  'deletion-refused': 'StopsHeldUp',
  'file-refused': 'ConfigurationRefused',
  'group-refuses': 'JobNotAssigned JobsStarved',
  'installation-unlisted': 'RemovalHeldBack',
  'job-hidden': 'JobsMisjudged',
  'job-stuck': 'JobsStuck SweepsReachNotAll',
  'rows-lost': 'DeliveriesGivenUp',
  'runner-version-ends': 'RunnerVersionEnds',
  'schema-of-yesterday': 'MigrationNeeded',
  'slow-pods': 'RunnersStartSlowly StartsLateFast',
  'strange-pod': 'PodsWithoutRow',
  'sweep-forgotten': 'SweepOverdue SwitchForgotten',
  'table-locked': 'DatabaseSlow',
};

const named = (alerts: string): string[] =>
  (alerts.match(/\w+/g) ?? []).map((alert) => `Paddock${alert}`);

const SLOWLY = 'PaddockStartsLateSlowly';
const WELL = 'none-for-an-hour';
const LATE = 'slow-pods';
/** The series of the service level, and signs of life. */
const OF_LEVEL = /^paddock_(job_queue|migration|events_total\{event="(deliveryS|demandM|tickT))/;
const names = rulesOf(RULES).flatMap(({ alert }) => alert ?? []);

described('promtool (skipped where there is none)', () => {
  test('finds no mistake in the rules (H5)', () => {
    const rules = readFileSync(RULES_FILE, 'utf8');
    const { status, printed } = runPromtool(['check', 'rules'], { 'alerts.yaml': rules });
    expect({ status, printed }).toMatchObject({ status: 0 });
  });

  test.each(Object.entries({ ...IN_FAULTS, ...IN_STATES }))(
    '%s: fires %s, and all clear (H5)',
    (row, alerts) => {
      expect(complaintsOnPlaying(readTapes(row), named(alerts))).toBe('');
    },
  );

  test(`${SLOWLY} fires after a day with some late starts, and clears after better hours (H5)`, () => {
    const days = Array.from({ length: 11 }, () => [WELL, LATE, LATE]).flat();
    const all = readTapes(...days, ...Array.from({ length: 7 }, () => WELL));
    const read = Object.entries(all).filter(([name]) => OF_LEVEL.test(name));
    expect(complaintsOnPlaying(Object.fromEntries(read), [SLOWLY])).toBe('');
  });
});

test('each alert fires in a test, and each tape is played (H5)', () => {
  const fired = new Set([...Object.values({ ...IN_FAULTS, ...IN_STATES }).flatMap(named), SLOWLY]);
  expect([...fired].toSorted()).toEqual(names.toSorted());
  expect(Object.keys(IN_STATES).toSorted()).toEqual(Object.keys(STATES).toSorted());
  expect(TAPES.toSorted()).toEqual(Object.keys({ ...IN_FAULTS, ...IN_STATES }).toSorted());
});

test.each(TAPES)('%s has only series that the services have today (H5)', (row) => {
  const complaints = Object.keys(readTapes(row)).flatMap((name) =>
    complaintsAbout(name, new Map()),
  );
  expect(complaints).toEqual([]);
});
