import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { findGiven, type Given, putActive } from '@paddock/bench/growth/active';
import { openExplained, type Plans } from '@paddock/bench/growth/explain-statements';
import { otherStatements } from '@paddock/bench/growth/other-statements';
import { listStatements } from '@paddock/bench/growth/list-statements';
import { peopleStatements } from '@paddock/bench/growth/people-statements';
import {
  type PeriodicStatement,
  periodicStatements,
} from '@paddock/bench/growth/periodic-statements';
import { fillYear } from '@paddock/bench/growth/year';
import { settle } from '@paddock/bench/fill-tables';
import type { Database } from '@paddock/db/schema/tables';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Kysely, sql } from 'kysely';

/**
 * How much one statement may read and handle beside `active` waiting jobs and living workers:
 * enough to write a batch of a hundred rows with all their indexes. A walk through all ended
 * workers, or through the events of the largest entity, is ten times as much at least.
 */
const mostBuffers = (active: number): number => 6_000 + 2 * active;
const mostRows = (active: number): number => 20_000 + 4 * active;
const ACTIVE = { entities: 30, waiting: 300, living: 300 };
/** After this many runs PostgreSQL has decided whether to keep a plan without parameters. */
const RUNS_UNTIL_KEPT = 6;

describe('a statement that runs by the clock, or that a person’s question runs', () => {
  let database: TestDatabase;
  let explained: ReturnType<typeof openExplained>;
  let explainedLists: ReturnType<typeof openExplained>;
  let given: Given;
  beforeAll(async () => {
    database = await createTestDatabase();
    const { db, url, schema } = database;
    await fillYear(db, { history: 200_000, events: 200_000, entities: ACTIVE.entities });
    await putActive(db, ACTIVE);
    given = await findGiven(db);
    const options = { url, schema, applicationName: 'explained' };
    explained = openExplained(options);
    explainedLists = openExplained({ ...options, forLists: true });
  });
  afterAll(async () => {
    await explained.close();
    await explainedLists.close();
    await database.drop();
  });

  /** Those that read too much, with the amount. */
  async function findGreedy(
    plans: Plans,
    statements: Readonly<Record<string, PeriodicStatement>> = {
      ...periodicStatements,
      ...peopleStatements,
    },
    on = explained,
  ): Promise<string[]> {
    const greedy: string[] = [];
    const active = await countActive(database.db);
    for (const [name, run] of Object.entries(statements)) {
      const costs = await on.explain(plans, (trx) => run(trx, given));
      for (const { buffers, rows, text } of costs) {
        if (buffers > mostBuffers(active) || rows > mostRows(active))
          greedy.push(
            `${name}: ${buffers} buffers, ${rows} rows, ${text.replaceAll(/\s+/g, ' ').slice(0, 250)}`,
          );
      }
    }
    return greedy;
  }

  test.each(['fresh', 'generic'] as const)(
    'reads no more for a year of ended rows, with a %s plan',
    async (plans) => {
      expect(await findGreedy(plans)).toEqual([]);
    },
  );

  test('nor does a list that people ask for', async () => {
    expect(await findGreedy('fresh', listStatements, explainedLists)).toEqual([]);
  });

  test('reads no more with a plan that was kept while less went on', async () => {
    for (let runs = 0; runs < RUNS_UNTIL_KEPT; runs++) await findGreedy('kept');
    await putActive(database.db, ACTIVE);
    expect(await findGreedy('kept')).toEqual([]);
  });

  test.each(['fresh', 'generic'] as const)(
    'reads no more where thousands of workers live, with a %s plan',
    async (plans) => {
      if (plans === 'fresh') {
        await putActive(database.db, { ...ACTIVE, living: 8_000 });
        await settle(database.db);
      }
      expect(await findGreedy(plans)).toEqual([]);
    },
  );
});

async function countActive(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ active: number }>`
    select (select count(*) from jobs where wants_worker) + (select count(*) from workers where status in ('pending', 'running')) as active`.execute(
    db,
  );
  return rows[0]?.active ?? 0;
}

const PACKAGES = join(import.meta.dirname, '..', '..', 'packages');
const STATEMENT =
  /^export (?:async function|function|const) (\w+)(?: = (?:async )?)?\(\s*(?:\{\s+)?(?:db|trx)\b/gm;

test('every statement is among these, or it is said when it runs', async () => {
  const found: string[] = [];
  for await (const file of glob('{api,db,queue}/src/**/!(*.test|*.scene|*-under-test).ts', {
    cwd: PACKAGES,
  })) {
    for (const [, name = ''] of readFileSync(join(PACKAGES, file), 'utf8').matchAll(STATEMENT))
      found.push(name);
  }
  const listed = [
    ...Object.keys(periodicStatements),
    ...Object.keys(peopleStatements),
    ...new Set(Object.keys(listStatements).map((name) => name.split(' ', 1)[0] ?? '')),
    ...Object.values(otherStatements).flatMap((names) => names.trim().split(/\s+/)),
  ];
  expect(found.toSorted()).toEqual(listed.toSorted());
});
