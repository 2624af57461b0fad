import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { findGiven, type Given, putActive } from '@paddock/bench/growth/active';
import { type Cost, openExplained, type Plans } from '@paddock/bench/growth/explain-statements';
import {
  consoleStatements,
  otherStatements,
  type PeriodicStatement,
  periodicStatements,
} from '@paddock/bench/growth/statements';
import { answerQuestion, questionsOf, READING } from '@paddock/bench/growth/questions';
import { fillYear, settle } from '@paddock/bench/growth/year';
import type { Db } from '@paddock/db/schema/tables';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';

/**
 * How much one statement may read and handle beside `active` waiting jobs and living workers:
 * enough to write a batch of a hundred rows with all their indexes. A walk through all ended
 * workers, or through the events of the largest entity, is several times as much.
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
    await fillYear(db, { history: 70_000, events: 100_000, entities: ACTIVE.entities });
    await putActive(db, ACTIVE);
    // Else it is chance whether autovacuum has come by.
    await settle(db);
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
  async function greedyOf(name: string, costs: readonly Cost[]): Promise<string[]> {
    const active = await countActive(database.db);
    return costs
      .filter(({ buffers, rows }) => buffers > mostBuffers(active) || rows > mostRows(active))
      .map(({ buffers, rows, text }) => `${name}: ${buffers} buffers, ${rows} rows, ${text}`);
  }
  async function findGreedy(plans: Plans): Promise<string[]> {
    const greedy: string[] = [];
    const statements = { ...periodicStatements, ...consoleStatements };
    for (const [name, run] of Object.entries<PeriodicStatement>(statements)) {
      const costs = await explained.explain(plans, (trx) => run(trx, given));
      greedy.push(...(await greedyOf(name, costs)));
    }
    return greedy;
  }

  test.each(['fresh', 'generic'] as const)(
    'reads no more for a year of ended rows, with a %s plan',
    async (plans) => {
      expect(await findGreedy(plans)).toEqual([]);
    },
  );

  test('nor does any question of people', async () => {
    const asked = new Set<string>();
    const greedy: string[] = [];
    let explainedCount = 0;
    for (const question of questionsOf(given)) {
      const costs = await explainedLists.explainReading(async (db) =>
        asked.add(await answerQuestion(db, question)),
      );
      explainedCount += costs.length;
      greedy.push(...(await greedyOf(question, costs)));
    }
    expect(greedy).toEqual([]);
    expect(explainedCount).toBeGreaterThan(50);
    expect(READING.filter(({ endpoint }) => !asked.has(endpoint.name))).toEqual([]);
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

async function countActive(db: Db): Promise<number> {
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
  for await (const file of glob('{db,queue}/src/**/!(*.test|*.scene|*-under-test).ts', {
    cwd: PACKAGES,
  })) {
    for (const [, name = ''] of readFileSync(join(PACKAGES, file), 'utf8').matchAll(STATEMENT))
      found.push(name);
  }
  const listed = [
    ...Object.keys(periodicStatements),
    ...Object.values(otherStatements).flatMap((names) => names.trim().split(/\s+/)),
  ];
  expect(found.toSorted()).toEqual(listed.toSorted());
});
