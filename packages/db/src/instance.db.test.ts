import { expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { noteLife } from './instance.ts';

const database = useTestDatabase();

/** The versions that are noted, with what was noted at the same instant as before. */
const read = async () =>
  (await database.db.selectFrom('instance').select('versions').executeTakeFirstOrThrow()).versions;
/** The versions have been noted this much earlier. */
const age = (seconds: number) =>
  sql`update instance set ingress_seen_at = ingress_seen_at - ${seconds} * interval '1 second', versions = (
      select jsonb_object_agg(key, value || jsonb_build_object('since', (value ->> 'since')::float8 - ${seconds}::float8, 'last', (value ->> 'last')::float8 - ${seconds}::float8))
      from jsonb_each(versions))`.execute(database.db);

test('the versions of living services are noted once for all replicas, and forgotten after an hour', async () => {
  const ingress = database.dbOf('ingress');
  await noteLife(ingress, 'ingress', { version: '1.0.0' });
  const first = await read();
  await noteLife(ingress, 'ingress', { version: '1.0.0' });
  expect(await read()).toEqual(first);
  await noteLife(ingress, 'ingress', { version: '1.1.0' });
  await noteLife(database.dbOf('scheduler'), 'scheduler', { version: '1.0.0' });
  await noteLife(database.dbOf('reconciler'), 'reconciler', { version: '1.0.0' });
  expect(Object.keys(await read()).toSorted()).toEqual([
    'ingress 1.0.0',
    'ingress 1.1.0',
    'reconciler 1.0.0',
    'scheduler 1.0.0',
  ]);
  await age(60);
  const { 'ingress 1.0.0': before } = await read();
  await noteLife(ingress, 'ingress', { version: '1.0.0' });
  const { 'ingress 1.0.0': after } = await read();
  expect(after?.since).toBe(before?.since);
  expect(after?.last).toBeGreaterThan(before?.last ?? Infinity);
  await age(3_600);
  await noteLife(ingress, 'ingress', { version: '1.0.0' });
  const left = await read();
  expect(Object.keys(left)).toEqual(['ingress 1.0.0']);
  expect(left['ingress 1.0.0']?.since).toBe(left['ingress 1.0.0']?.last);
});

test('a service’s refusal of a changed file is noted at once, with any characters, until the file is accepted', async () => {
  const scheduler = database.dbOf('scheduler');
  const note = async (refusal?: string) => {
    await noteLife(scheduler, 'scheduler', { version: '2.0.0', refusal });
    return (await read())['scheduler 2.0.0']?.refused;
  };
  expect(await note()).toBeNull();
  expect(await note(`a \0 key${'!'.repeat(2_000)}`)).toMatch(/^a \uFFFD key!{900,1000}$/);
  expect(await note()).toBeNull();
});

test('what a wrong clock noted of a life is no sign of life, and is noted anew', async () => {
  const ingress = database.dbOf('ingress');
  for (const version of ['1.0.0', '1.1.0']) await noteLife(ingress, 'ingress', { version });
  await age(-3_600);
  await noteLife(ingress, 'ingress', { version: '1.1.0' });
  const { 'ingress 1.1.0': noted, ...others } = await read();
  expect(others).toEqual({});
  expect(noted?.since).toBe(noted?.last);
  const isNow = sql<boolean>`ingress_seen_at = to_timestamp(${noted?.last ?? 0})`.as('isNow');
  const row = database.db.selectFrom('instance').select(isNow);
  expect(await row.executeTakeFirstOrThrow()).toEqual({ isNow: true });
});
