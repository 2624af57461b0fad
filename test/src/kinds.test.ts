import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { settings as reconcilerSettings } from '@paddock/reconciler/config';
import { sweepKinds } from '@paddock/reconciler/sweeps';
import { settings as schedulerSettings } from '@paddock/scheduler/config';
import { schedulerKinds } from '@paddock/scheduler/kinds';

interface KindRow {
  kind: string;
  service: string;
  slots: number;
}

/** The rows of ARCHITECTURE.md's table of kinds. */
function documentedKinds(): KindRow[] {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'ARCHITECTURE.md'), 'utf8');
  const rows = text.split('\n').filter((line) => /^\| `[a-z-]+` +\| (scheduler|reconciler)/.test(line));
  return rows.map((row) => {
    const [, kind = '', service = '', , , , slots = ''] = row.split('|').map((cell) => cell.trim());
    return { kind: kind.replaceAll('`', ''), service, slots: Number(slots) };
  });
}

/** The kinds of both services. What their handlers work with is only used when they run. */
function registeredKinds(): KindRow[] {
  return Object.entries({ scheduler: schedulerKinds({} as never), reconciler: sweepKinds({ config: {} } as never) }).flatMap(
    ([service, kinds]) => Object.entries(kinds).map(([kind, { slots }]) => ({ kind, service, slots })),
  );
}

const byKind = (a: KindRow, b: KindRow): number => (a.kind < b.kind ? -1 : 1);

test('the table of kinds in ARCHITECTURE.md names every registered kind, its service and its slots (D12)', () => {
  expect(documentedKinds().toSorted(byKind)).toEqual(registeredKinds().toSorted(byKind));
});

test.each([
  { service: 'scheduler', poolSize: schedulerSettings.poolSize.default },
  { service: 'reconciler', poolSize: reconcilerSettings.poolSize.default },
])('the pool of the $service has a connection for each task that may run at once, and two more (A11)', ({ service, poolSize }) => {
  const slots = registeredKinds().filter((kind) => kind.service === service);
  expect(poolSize).toBeGreaterThanOrEqual(slots.reduce((sum, kind) => sum + kind.slots, 2));
  const network = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'network.md'), 'utf8');
  expect(network).toMatch(new RegExp(`\\| \`${service}\` +\\| ${poolSize} \\(`));
});
