import { expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { createClockWatch } from './watch-clock.ts';

const database = useTestDatabase();

test('says once that the clocks disagree, and then what a wrong clock has left', async () => {
  const said: unknown[] = [];
  const events = {
    clocksDiffer: (seconds: number) => void said.push(Math.round(seconds / 60)),
    instantsMended: (rows: object) => void said.push(rows),
  };
  let behindMs = 600_000;
  const watch = createClockWatch(
    database.dbOf('reconciler'),
    events,
    () => new Date(Date.now() - behindMs),
  );
  await sql`insert into leases (name, holder, fence, expires_at) values ('a', 'died', 1, now() + interval '1 year')`.execute(
    database.db,
  );
  await watch();
  await watch();
  expect(said).toEqual([10]);
  behindMs = 0;
  await watch();
  await watch();
  expect(said).toEqual([10, { leases: 1 }]);
});
