import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { settings as ingress } from '@paddock/ingress/config';
import { settings as reconciler } from '@paddock/reconciler/config';
import { settings as scheduler } from '@paddock/scheduler/config';
import type { Declarations } from '@paddock/runtime/settings';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { amountOf, amountOfValue } from './number-row.ts';
import type { Home } from './number-row.ts';
import { NUMBERS } from './number-table.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const rows = Object.values(NUMBERS).flat();
const services: Readonly<Record<string, Declarations>> = { ingress, scheduler, reconciler };

const database = useTestDatabase();

/** The default of a setting in each service that has it. */
const defaultsOf = (name: string): unknown[] =>
  Object.values(services)
    .flatMap((declared) => Object.values(declared))
    .filter(({ env }) => env === name)
    .map((declared) => declared.default);

/** The code's value, once for each place; for a test, that there is such a test. */
async function amountsIn(home: Home): Promise<unknown[]> {
  if ('setting' in home)
    return defaultsOf(home.setting).map((value) => amountOfValue(home.setting, Number(value)));
  if ('code' in home) return [home.read()];
  if ('database' in home) return [await home.ask(database.db)];
  return [];
}

const isHeldByTest = (home: Home): boolean => 'test' in home;

test.each(rows.filter(({ home }) => !isHeldByTest(home)))(
  '$what $number ($id)',
  async ({ number, home }) => {
    expect([...new Set(await amountsIn(home))]).toEqual([amountOf(number)]);
  },
);

test('every promise is one of docs/requirements.md, and every test that holds a number is there', () => {
  const requirements = read('docs/requirements.md');
  expect(rows.filter(({ id }) => !requirements.includes(`**${id}**`))).toEqual([]);
  expect(rows.filter(({ home }) => 'test' in home && !read(home.file).includes(home.test))).toEqual(
    [],
  );
});
