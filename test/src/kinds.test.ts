import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { lookUpAccessTask } from '@paddock/domain/tasks/key-tasks';
import {
  diagnoseTask,
  provisionTask,
  removeSecretTask,
  stopTask,
} from '@paddock/domain/tasks/worker-tasks';
import { lookUpJobsTask } from '@paddock/domain/tasks/look-up-task';
import { SCHEDULED_SWEEPS, SWEEPS } from '@paddock/domain/tasks/sweep-names';
import { DEFAULT_MAX_ATTEMPTS, type NewTask } from '@paddock/queue/enqueue';
import { settings as reconcilerSettings } from '@paddock/reconciler/config';
import { cadenceRules } from '@paddock/reconciler/rules';
import { sweepSchedules } from '@paddock/reconciler/schedules/sweep-schedules';
import { sweepKinds } from '@paddock/reconciler/sweeps';
import { settings as schedulerSettings } from '@paddock/scheduler/config';
import { valuesOf } from '@paddock/runtime/rules';
import { schedulerKinds } from '@paddock/scheduler/kinds';

const CADENCES = valuesOf(cadenceRules);

interface KindRow {
  kind: string;
  service: string;
  slots: number;
}

/** The rows of ARCHITECTURE.md's table of kinds. */
function documentedKinds(): (KindRow & { attempts: number })[] {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'ARCHITECTURE.md'), 'utf8');
  const rows = text
    .split('\n')
    .filter((line) => /^\| `[a-z-]+` +\| (scheduler|reconciler)/.test(line));
  return rows.map((row) => {
    const [, kind = '', service = '', , , , slots = '', attempts = ''] = row
      .split('|')
      .map((cell) => cell.trim());
    return {
      kind: kind.replaceAll('`', ''),
      service,
      slots: Number(slots),
      attempts: Number(attempts),
    };
  });
}

/** The kinds of both services. Their handlers' dependencies are only used when they run. */
function registeredKinds(): KindRow[] {
  return Object.entries({
    scheduler: schedulerKinds({} as never),
    reconciler: sweepKinds({ config: {}, github: {} } as never),
  }).flatMap(([service, kinds]) =>
    Object.entries(kinds).map(([kind, { slots }]) => ({ kind, service, slots })),
  );
}

const byKind = (a: KindRow, b: KindRow): number => (a.kind < b.kind ? -1 : 1);

test('the table of kinds in ARCHITECTURE.md names every registered kind, its service and its slots (D12)', () => {
  const documented = documentedKinds().map(({ kind, service, slots }) => ({
    kind,
    service,
    slots,
  }));
  expect(documented.toSorted(byKind)).toEqual(registeredKinds().toSorted(byKind));
});

test('people pause each sweep by the kind of its task (F5)', () => {
  const reconciler = registeredKinds().filter(({ service }) => service === 'reconciler');
  expect(reconciler.map(({ kind }) => kind).toSorted()).toEqual(SWEEPS.toSorted());
  const schedules = sweepSchedules(CADENCES, []);
  expect(schedules.map(({ name }) => name)).toEqual([...SCHEDULED_SWEEPS]);
});

test('the table says how often each task is tried, for every enqueuer (D4, D12)', () => {
  const ofWorkers: NewTask[] = [
    provisionTask({ podName: 'a', deliveryGuid: null }),
    ...[diagnoseTask, removeSecretTask, stopTask].map((task) => task('a')),
  ];
  const scheduled = sweepSchedules(CADENCES, [1]).map(({ task }) => task);
  const asked: NewTask[] = [lookUpJobsTask, lookUpAccessTask(1)];
  const made = [...ofWorkers, ...scheduled, ...asked];
  const documented = new Map(documentedKinds().map(({ kind, attempts }) => [kind, attempts]));
  expect(made.map(({ kind, maxAttempts = DEFAULT_MAX_ATTEMPTS }) => [kind, maxAttempts])).toEqual(
    made.map(({ kind }) => [kind, documented.get(kind)]),
  );
  expect([...documented.keys()].filter((kind) => made.every((task) => task.kind !== kind))).toEqual(
    [],
  );
});

test.each([
  { service: 'scheduler', poolSize: schedulerSettings.poolSize.default },
  { service: 'reconciler', poolSize: reconcilerSettings.poolSize.default },
])(
  'the pool of the $service has a connection for each task that may run at once, and two more (A11)',
  ({ service, poolSize }) => {
    const slots = registeredKinds().filter((kind) => kind.service === service);
    expect(poolSize).toBeGreaterThanOrEqual(slots.reduce((sum, kind) => sum + kind.slots, 2));
    const network = readFileSync(
      join(import.meta.dirname, '..', '..', 'docs', 'network.md'),
      'utf8',
    );
    expect(network).toMatch(new RegExp(`\\| \`${service}\` +\\| ${poolSize} \\(`));
  },
);
