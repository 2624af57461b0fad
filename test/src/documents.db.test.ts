import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';

const docs = join(import.meta.dirname, '..', '..', 'docs');

/** The statements that the pages give people for psql, page by page. */
const blocks = globSync('*.md', { cwd: docs }).flatMap((page) =>
  [...readFileSync(join(docs, page), 'utf8').matchAll(/^```sql\n(.*?)^```$/gms)].map(
    ([, text = '']) => ({
      page,
      text,
      begin: text.split('\n')[0],
    }),
  ),
);

const database = useTestDatabase();

test.each(blocks)('the SQL of $page works: $begin', async ({ page, text }) => {
  const statements = text.split(/;.*$/m).filter((statement) => statement.trim() !== '');
  expect(statements).not.toEqual([]);
  const trx = await database.db.startTransaction().execute();
  try {
    for (const statement of statements) await sql.raw(statement).execute(trx);
  } finally {
    // Roles belong to the whole server, which need not be the tests' alone.
    await (page === 'roles.md' ? trx.rollback() : trx.commit()).execute();
  }
});
