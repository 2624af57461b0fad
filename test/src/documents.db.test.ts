import { describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { globSync, readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { documented, metricOf, ROOT } from './scenes/documented-metrics.scene.ts';
import { type ServiceName, useSystem } from './start-system.ts';

const docs = join(ROOT, 'docs');

/** The statements that the pages give people for psql, page by page. */
const blocks = globSync('**/*.md', { cwd: docs }).flatMap((page) =>
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

const SERVICES = ['ingress', 'scheduler', 'reconciler'] as const;
describe('the metrics of the services (H5)', () => {
  const system = useSystem({ ingress: {}, scheduler: {}, reconciler: {} });
  const scrape = async (service: ServiceName): Promise<string[]> => {
    const port = system.running.get(service)?.healthPort;
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    return (await answer.text()).split('\n');
  };

  test.each(SERVICES)('%s has its type, meaning and labels in docs/metrics.md', async (service) => {
    const page = [...documented].filter(([, { services }]) => services.includes(service));
    await waitFor('the gauges of rows', async () =>
      (await scrape(service)).some((line) => line.startsWith('paddock_migration_needed 0')),
    );
    const lines = await scrape(service);
    const said = lines.filter((line) => /^# (TYPE|HELP) paddock_/.test(line));
    const meant = page.flatMap(([name, { type, help }]) => [
      `# TYPE ${name} ${type.replace(' of rows', '')}`,
      `# HELP ${name} ${help}`,
    ]);
    expect(said.toSorted()).toEqual(meant.toSorted());
    for (const line of lines.filter((sample) => sample.startsWith('paddock_'))) {
      const labels = [...line.matchAll(/[{,](\w+)="/g)]
        .map(([, label = '']) => label)
        .filter((label) => label !== 'le');
      expect({ line, labels: labels.toSorted() }).toEqual({
        line,
        labels: documented.get(metricOf(line))?.labels.toSorted(),
      });
    }
  });
});

test('every metric is in a test that reads it', async () => {
  const read: string[] = [];
  for await (const file of glob('{apps,packages,test}/**/src/**/*.test.ts', { cwd: ROOT }))
    read.push(readFileSync(join(ROOT, file), 'utf8'));
  const all = read.join('\n');
  // Some tests leave the prefix to their helper.
  const unread = [...documented.keys()].filter(
    (name) => !all.includes(name.replace('paddock_', '')),
  );
  expect(unread).toEqual([]);
});
