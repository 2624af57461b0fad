import { expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { milliseconds } from './milliseconds.ts';

const database = useTestDatabase();

test.each([
  [1_500, '00:00:01.5'],
  [0.5, '00:00:00.0005'],
  [-250, '-00:00:00.25'],
  [null, null],
  [sql`least(7::float8, 9) + 1`, '00:00:00.008'],
  [sql`case when true then 60000 end`, '00:01:00'],
])('an interval of %p milliseconds', async (ms, expected) => {
  const { rows } = await sql<{
    text: string | null;
  }>`select (${milliseconds(ms)})::text as text`.execute(database.db);
  expect(rows).toEqual([{ text: expected }]);
});
