import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connectDatabase } from '@paddock/db/connection/connect';
import { migrate, pendingSql } from '@paddock/db/migrate';
import { createEmptyDatabase, type TestDatabase } from '@paddock/testing/database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { startSystem, type TestSystem } from './start-system.ts';

const SCHEMA = 'upgraded';
const NEWEST =
  readdirSync(join(import.meta.dirname, '../../db/migrations'))
    .toSorted()
    .at(-1)
    ?.replace('.sql', '') ?? '';

let system: TestSystem;

/** A database that lacks the newest migration, as after applying the others by hand. */
async function createDatabaseBehind(): Promise<TestDatabase> {
  const { url, drop } = await createEmptyDatabase();
  const all = await pendingSql({ url, schema: SCHEMA });
  const { db, close } = connectDatabase({
    url,
    schema: SCHEMA,
    poolSize: 5,
    applicationName: 'paddock-test',
  });
  await sql.raw(`${all.slice(0, all.indexOf(`-- ${NEWEST}\n`))}commit;`).execute(db);
  return {
    url,
    schema: SCHEMA,
    db,
    // As before there were roles of services: all connect as the tables' owner.
    urlOf: () => url,
    dbOf: () => db,
    drop: async () => {
      await close();
      await drop();
    },
  };
}

const queueJobs = async (count: number) =>
  Promise.all(
    Array.from({ length: count }, () =>
      system.github.queueJob({
        repo: 'acme/shop',
        labels: ['self-hosted', 'linux'],
        durationMs: 50,
      }),
    ),
  );

const completed = (count: number) =>
  waitFor(`${count} jobs to complete`, async () => {
    const rows = await system.database.db
      .selectFrom('jobs')
      .select('job_id')
      .where('status', '=', 'completed')
      .execute();
    return rows.length === count;
  });

beforeAll(async () => {
  system = await startSystem({ database: await createDatabaseBehind() });
  for (const service of ['ingress', 'scheduler', 'reconciler'] as const)
    await system.start(service);
});
afterAll(() => system.stop());

describe('services on a schema one version behind (A10)', () => {
  test('do their work there, and go on while the newest migration is applied', async () => {
    await queueJobs(3);
    await completed(3);
    await queueJobs(3);
    expect(await migrate({ url: system.database.url, schema: SCHEMA })).toEqual({
      applied: [NEWEST],
    });
    await queueJobs(3);
    await completed(9);
    expect(await system.github.report()).toMatchObject({ lost: 0, excessWorkers: 0 });
  });
});
