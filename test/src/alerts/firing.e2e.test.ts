import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { RULES, RULES_FILE, rulesOf } from '../scenes/alert-rules.scene.ts';
import {
  complaintsOnPlaying,
  PROMTOOL,
  readTape,
  runPromtool,
  type Series,
} from '../scenes/promtool.scene.ts';

const described = PROMTOOL === undefined ? describe.skip : describe;

/**
 * The alerts that fire while the services run with a fault of the matrix, and then clear, by the
 * tapes that `bench faults --tape` writes. A burst of late work may have tasks wait, too.
 */
const IN_FAULTS: Readonly<Record<string, string>> = {
  'none-for-an-hour': '',
  'api-server-away': 'DependencyAway JobsStarved StartsLateFast',
  'github-hangs': 'JobsStarved StartsLateFast TasksWait',
  'github-refuses': 'DependencyAway JobsStarved StartsLateFast',
  'ingress-down': 'ServiceDown StartsLateFast',
  'postgres-restarts': 'DatabaseAway StartsLateFast',
  'registrations-of-one-fail': 'JobsStarved KeysFailing StartsLateFast',
  'repository-refuses': 'JobsStarved Refused StartsLateFast',
  'runs-of-one-fail': 'StartsLateFast SweepsReachNotAll TasksWait',
  'wrong-secret': 'DeliveriesLost DeliveriesStale PoolSaturated',
};

/** Of nothing but the services' signs of life. */
const alive = (values: string): Series => ({
  'paddock_events_total{event="deliveryStored"}': values,
  'paddock_events_total{event="demandMatched"}': values,
  'paddock_events_total{event="tickTaken"}': values,
  'paddock_migration_needed{}': values,
});
/** A state that comes and goes. */
const forAWhile = (value: number, usual: number | '_' = 0): string =>
  `${usual}x9 ${value}x89 ${usual}x150`;
/** A counter that rises for a while. */
const RISES = '0x9 0+1x89 89x150';

/** For alerts that no row of the matrix fires: series made up here. */
const MADE_UP: Readonly<Record<string, Series>> = {
  PaddockDeliveriesGivenUp: { 'paddock_events_total{event="redeliveriesGivenUp"}': RISES },
  PaddockJobNotAssigned: { 'paddock_oldest_waiting_job_has_idle_worker{pool="a"}': forAWhile(1) },
  PaddockRunnersStartSlowly: {
    'paddock_worker_to_running_seconds_bucket{pool="a",le="120"}': '0x250',
    'paddock_worker_to_running_seconds_bucket{pool="a",le="300"}': RISES,
    'paddock_worker_to_running_seconds_bucket{pool="a",le="+Inf"}': RISES,
  },
  PaddockJobsStuck: { 'paddock_jobs_stuck{}': forAWhile(2) },
  PaddockJobsMisjudged: { 'paddock_jobs_misjudged{}': forAWhile(1) },
  PaddockAppUnfit: { 'paddock_app_problems{app="7"}': forAWhile(1) },
  PaddockConfigurationRefused: { 'paddock_apps_refused{}': forAWhile(1) },
  PaddockRunnerVersionEnds: {
    'paddock_runner_version_days_left{pool="a",version="2.336.0"}': forAWhile(20.9, 40),
  },
  PaddockSweepOverdue: { 'paddock_sweep_overdue{schedule="upkeep"}': forAWhile(1) },
  PaddockRemovalHeldBack: { 'paddock_events_total{event="tooManyStrays"}': RISES },
  PaddockStopsHeldUp: { 'paddock_worker_stops_held_up{}': forAWhile(3) },
  PaddockSwitchForgotten: {
    'paddock_oldest_switch_seconds{kind="pool"}': forAWhile(260_000, '_'),
  },
  PaddockPodsWithoutRow: { 'paddock_pods_without_row{exported_namespace="a"}': forAWhile(4) },
  PaddockDatabaseSlow: {
    'paddock_match_duration_seconds_bucket{le="5"}': '0x250',
    'paddock_match_duration_seconds_bucket{le="10"}': RISES,
    'paddock_match_duration_seconds_bucket{le="+Inf"}': RISES,
  },
  PaddockMigrationNeeded: { 'paddock_migration_needed{}': forAWhile(1) },
  PaddockBudgetUsedUp: { 'paddock_jobs_waiting{pool="a",reason="github_budget"}': forAWhile(9) },
};

const named = (alerts: string): string[] =>
  (alerts.match(/\w+/g) ?? []).map((alert) => `Paddock${alert}`);

const SLOWLY = 'PaddockStartsLateSlowly';
const names = rulesOf(RULES).flatMap(({ alert }) => alert ?? []);

described('promtool (skipped where there is none)', () => {
  test('finds no mistake in the rules (H5)', () => {
    const rules = readFileSync(RULES_FILE, 'utf8');
    const { status, printed } = runPromtool(['check', 'rules'], { 'alerts.yaml': rules });
    expect({ status, printed }).toMatchObject({ status: 0 });
  });

  test.each(Object.entries(IN_FAULTS))('%s: fires %s, and all clear (H5)', (row, alerts) => {
    expect(complaintsOnPlaying(readTape(row), named(alerts))).toBe('');
  });

  test('each of the others fires by the series made up for it, nothing else does, and all clear (H5)', () => {
    const series = Object.assign(alive('0x250'), ...Object.values(MADE_UP)) as Series;
    expect(complaintsOnPlaying(series, Object.keys(MADE_UP))).toBe('');
  });

  test(`${SLOWLY} fires after days of some late starts, and clears after better ones (H5)`, () => {
    const series = {
      ...alive('0x700'),
      'paddock_job_queue_seconds_count{held="no"}': '0+10x400 4010+200x299',
      'paddock_job_queue_seconds_bucket{held="no",le="60.0"}': '0+9x400 3609+200x299',
    };
    expect(complaintsOnPlaying(series, [SLOWLY], '5m')).toBe('');
  });
});

test('each alert fires in a test, and each tape is played (H5)', () => {
  const fired = new Set([
    ...Object.values(IN_FAULTS).flatMap(named),
    ...Object.keys(MADE_UP),
    SLOWLY,
  ]);
  expect([...fired].toSorted()).toEqual(names.toSorted());
  const tapes = globSync('*.json', { cwd: join(import.meta.dirname, 'tapes') });
  expect(tapes.toSorted()).toEqual(
    Object.keys(IN_FAULTS)
      .map((row) => `${row}.json`)
      .toSorted(),
  );
});
