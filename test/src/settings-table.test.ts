import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { settings as consoleSettings } from '@paddock/console/config';
import { settings as ingress } from '@paddock/ingress/config';
import { settings as reconciler } from '@paddock/reconciler/config';
import type { Setting } from '@paddock/runtime/settings';
import { settings as scheduler } from '@paddock/scheduler/config';

const namesIn = (text: string): string[] =>
  [...text.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name = '']) => name);

const names = namesIn(readFileSync(join(import.meta.dirname, '../../docs/settings.md'), 'utf8'));
const byName = Map.groupBy(
  [ingress, scheduler, reconciler, consoleSettings].flatMap((declared) =>
    Object.entries<Setting<unknown>>(declared),
  ),
  ([, { env }]) => env,
);

/** One machine may run all services. */
const PORTS = new Set(['PADDOCK_PUBLIC_PORT', 'PADDOCK_HEALTH_PORT']);

/** Each service's description of a setting; `schema` allows what `range` says. */
const meanings = (settings: readonly (readonly [string, Setting<unknown>])[]): Set<string> =>
  new Set(
    settings.map((said) =>
      JSON.stringify(said, (key, value: unknown) =>
        key === 'schema' || (key === 'default' && PORTS.has(said[1].env)) ? undefined : value,
      ),
    ),
  );

test('the table holds at most 28 settings, and each has one row (H6)', () => {
  expect(names.length).toBeLessThanOrEqual(28);
  expect(names).toEqual(
    expect.arrayContaining(['DATABASE_URL', 'PADDOCK_CONFIG', 'PADDOCK_SERVICE_ROLE']),
  );
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect([...byName.keys()].filter((name) => !names.includes(name))).toEqual([]);
});

test('a setting has one meaning and one range in all services, and one default but for ports (H6)', () => {
  expect(
    [...byName].filter(([, settings]) => meanings(settings).size > 1).map(([name]) => name),
  ).toEqual([]);
  expect([...byName.values()].filter((settings) => settings.length > 1).length).toBeGreaterThan(10);
});
