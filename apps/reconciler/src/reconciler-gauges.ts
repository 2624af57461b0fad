import { oldestUnresolvedSeconds } from '@paddock/db/deliveries/redelivery';
import { countStuckJobs } from '@paddock/db/jobs/jobs-in-doubt';
import type { Db } from '@paddock/db/schema/tables';
import { findProblemsOfApps } from '@paddock/db/causes';
import { findOldestSwitches } from '@paddock/db/switches';
import { findEndingVersions } from '@paddock/db/workers/runner-versions';
import { findHeldStops } from '@paddock/db/workers/worker-stops';
import type { GitHub } from '@paddock/github/connect';
import type { DeclaredGauges, Metrics } from '@paddock/runtime/metrics';
import type { ReconcilerConfig } from './settings.ts';
import { type Schedule, readSweeps } from '@paddock/queue/sweep-schedules';

const GAUGES = {
  paddock_jobs_stuck: { help: 'Jobs that are stuck after the last recovery' },
  paddock_jobs_misjudged: {
    help: 'Jobs of the last day that had ended here before GitHub completed them, or while it kept them queued',
  },
  paddock_worker_stops_held_up: {
    help: 'Workers that could not be stopped for long: an operator must act',
  },
  paddock_redelivery_oldest_unresolved_seconds: {
    help: 'Age of the oldest delivery that has not reached us; 0 if there is none',
  },
  paddock_app_problems: {
    help: 'What is wrong with a GitHub App (permissions, events, webhook, clock), by the newest check',
    labels: ['app'],
  },
  paddock_runner_version_days_left: {
    help: 'Days until GitHub stops serving a pool’s runner version, by pool and version; absent without an end',
    labels: ['pool', 'version'],
  },
  paddock_oldest_switch_seconds: {
    help: 'How long the oldest switch of a kind has held something back: environment, pool, entity or sweep',
    labels: ['kind'],
  },
} satisfies DeclaredGauges;

const SWEEPS = {
  paddock_sweep_overdue: {
    help: '1 while a sweep has not succeeded for several cadences; the log says why',
    labels: ['schedule'],
  },
} satisfies DeclaredGauges;

const CALLS = {
  paddock_app_calls_remaining: {
    help: 'Calls of its own that GitHub still allows an App in this hour, as this process last heard: take the min over the replicas',
    labels: ['app'],
  },
} satisfies DeclaredGauges;

/** What GitHub leaves the Apps that are asked. */
export function declareAppCalls(
  metrics: Metrics,
  github: Pick<GitHub, 'appIds' | 'budgetOf'>,
): void {
  metrics.readings(CALLS, () =>
    Promise.resolve(
      github.appIds.flatMap((appId) => {
        const budget = github.budgetOf(`app ${appId}`);
        if (budget === undefined || budget.resetAt < Date.now()) return [];
        const { remaining: value } = budget;
        return [{ gauge: 'paddock_app_calls_remaining', labels: { app: String(appId) }, value }];
      }),
    ),
  );
}

/** Gauges of the sweeps' objects. Each scrape reads them from the rows, so all replicas agree. */
export function declareReconcilerGauges(
  metrics: Metrics,
  db: Db,
  config: Pick<ReconcilerConfig, 'stopAlertMs' | 'recoveryLimit'>,
  schedules: () => readonly Schedule[],
): void {
  metrics.readings(SWEEPS, async () =>
    (await readSweeps(db, schedules())).map(({ name: schedule, overdueFor }) => ({
      gauge: 'paddock_sweep_overdue' as const,
      labels: { schedule },
      value: overdueFor === undefined ? 0 : 1,
    })),
  );
  metrics.readings(GAUGES, async () => {
    const { stuck, misjudged } = await countStuckJobs(db, config.recoveryLimit);
    const held = await findHeldStops(db, config.stopAlertMs);
    const problems = await findProblemsOfApps(db);
    const versions = await findEndingVersions(db);
    const switches = await findOldestSwitches(db);
    return [
      reading('paddock_jobs_stuck', stuck),
      reading('paddock_jobs_misjudged', misjudged),
      reading('paddock_worker_stops_held_up', held.length),
      reading('paddock_redelivery_oldest_unresolved_seconds', await oldestUnresolvedSeconds(db)),
      ...Object.entries(problems).map(([app, many]) =>
        reading('paddock_app_problems', many, { app }),
      ),
      ...versions.map(({ pool, version, daysLeft }) =>
        reading('paddock_runner_version_days_left', daysLeft, { pool, version }),
      ),
      ...switches.map(({ kind, seconds }) =>
        reading('paddock_oldest_switch_seconds', seconds, { kind }),
      ),
    ];
  });
}

const reading = (
  gauge: keyof typeof GAUGES,
  value: number,
  labels: Readonly<Record<string, string>> = {},
) => ({ gauge, labels, value });
