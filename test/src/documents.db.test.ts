import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { sql } from 'kysely';

const docs = join(import.meta.dirname, '..', '..', 'docs');

/** What people are told to give to psql, page by page. */
const blocks = globSync('*.md', { cwd: docs }).flatMap((page) =>
  [...readFileSync(join(docs, page), 'utf8').matchAll(/^```sql\n(.*?)^```$/gms)].map(([, text = '']) => ({
    page,
    text,
    begin: text.split('\n')[0],
  })),
);

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

test.each(blocks)('what $page says in SQL works: $begin', async ({ text }) => {
  const statements = text.split(/;.*$/m).filter((statement) => statement.trim() !== '');
  expect(statements).not.toEqual([]);
  for (const statement of statements) await sql.raw(statement).execute(database.db);
});
