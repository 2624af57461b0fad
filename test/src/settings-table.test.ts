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

const [forOperators = '', forTuning = ''] = readFileSync(
  join(import.meta.dirname, '..', '..', 'docs', 'settings.md'),
  'utf8',
).split('## Tuning');
const byName = Map.groupBy(
  [ingress, scheduler, reconciler, consoleSettings].flatMap((declared) =>
    Object.entries<Setting<unknown>>(declared),
  ),
  ([, { env }]) => env,
);

/** Each service's description of a setting; `schema` allows what `range` says. */
const meanings = (settings: readonly (readonly [string, Setting<unknown>])[]): Set<string> =>
  new Set(
    settings.map((said) =>
      JSON.stringify(said, (key, value: unknown) => (key === 'schema' ? undefined : value)),
    ),
  );

test('the first table holds at most the 40 settings that operators change, and each setting has one row (H6)', () => {
  const [operators, tuning] = [namesIn(forOperators), namesIn(forTuning)];
  expect(operators.length).toBeLessThanOrEqual(40);
  expect(operators).toEqual(
    expect.arrayContaining(['DATABASE_URL', 'PADDOCK_CONFIG', 'PADDOCK_SERVICE_ROLE']),
  );
  const marked = [...byName]
    .filter(([, settings]) => settings.some(([, one]) => one.tuning === true))
    .map(([name]) => name);
  expect(tuning.toSorted()).toEqual(marked.toSorted());
  const all = [...operators, ...tuning];
  expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([]);
  expect([...byName.keys()].filter((name) => !all.includes(name))).toEqual([]);
});

test('a setting has one meaning, one range and one default in all services (H6)', () => {
  expect(
    [...byName].filter(([, settings]) => meanings(settings).size > 1).map(([name]) => name),
  ).toEqual([]);
  expect([...byName.values()].filter((settings) => settings.length > 1).length).toBeGreaterThan(10);
});
