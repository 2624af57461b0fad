import { beforeEach, describe, expect, test } from '@jest/globals';
import { migrate } from '@paddock/db/migrate';
import { startPoolingProxy } from '@paddock/testing/pooling-proxy';
import { sql } from 'kysely';
import { runCommand } from '../run-command.ts';
import { CLUSTER } from '../scenes/broken-cluster.scene.ts';
import { BOTH, GITHUB } from '../scenes/broken-github.scene.ts';
import { type Breaks, CONFIGURATION, DATABASE, SERVICES } from '../scenes/broken-rows.scene.ts';
import { useInstallation } from '../scenes/installation.scene.ts';

const world = useInstallation();

async function run(statement: string): Promise<void> {
  if (statement === 'migrate') await migrate(world.database);
  else await sql.raw(statement).execute(world.database.db);
}

/** Those of a group, with what they do without: it takes time. */
const rowsOf = (breaks: Breaks, without: string) =>
  Object.entries(breaks).map(([what, [says, how]]) => [what, says, how, without] as const);

describe('paddock doctor', () => {
  beforeEach(() => world.live());

  test('finds nothing in a healthy installation, and says so (H1)', async () => {
    expect(await world.examine()).toEqual([]);
    expect(await runCommand(['doctor'], world.environment)).toEqual({
      code: 0,
      stdout: 'Nothing is wrong.\n',
      stderr: '',
    });
  });

  const rows = [
    ...rowsOf(CONFIGURATION, 'DATABASE_URL'),
    ...rowsOf(DATABASE, 'PADDOCK_CONFIG'),
    ...rowsOf(SERVICES, 'PADDOCK_CONFIG'),
    ...rowsOf(GITHUB, 'DATABASE_URL'),
    ...rowsOf(CLUSTER, 'DATABASE_URL'),
    ...rowsOf(BOTH, 'PADDOCK_KUBECONFIG'),
  ];

  test.each(rows)('finds %s, and says what to do (H1, P5)', async (_what, says, how, without) => {
    if (how.configure !== undefined) world.configure(how.configure);
    if (how.github !== undefined)
      world.configure(({ github, ...rest }) => ({
        ...rest,
        github: { ...github, ...how.github },
      }));
    await how.act?.(world);
    if (how.sql !== undefined) for (const one of how.sql[0].split(';\n')) await run(one);
    try {
      const change = { [without]: undefined, ...how.environment?.(world.environment) };
      const found = await world.examine(change, how.aheadMs);
      const { level = 'mend' } = how;
      // What could not be checked may be told besides.
      const told = found.filter((one) => one.level !== 'unchecked' || says.test(one.sentence));
      const sentence: unknown = expect.stringMatching(says);
      expect(told).toEqual([{ level, part: expect.any(String), sentence }]);
    } finally {
      world.configure();
      await how.mend?.(world);
      if (how.sql !== undefined) await run(how.sql[1]);
    }
  });

  test('names a proxy that pools transactions (A11)', async () => {
    const { database } = world;
    const proxy = await startPoolingProxy(database.urlOf('scheduler'), database.schema);
    const { stdout, code } = await runCommand(['doctor'], {
      ...world.environment,
      DATABASE_URL: proxy.url,
    });
    await proxy.stop();
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(
        /^To mend:\n  - The database cannot be used: a transaction-pooling proxy .*connect to PostgreSQL itself/,
      ),
    ]);
  });

  test('tells it as JSON, and no secret (H1)', async () => {
    const { stdout } = await runCommand(['doctor', '--json'], {
      ...world.environment,
      DATABASE_URL: 'postgresql://me:hidden@127.0.0.1:1/paddock',
    });
    expect(JSON.parse(stdout)).toMatchObject({ isWell: false, findings: [{ part: 'database' }] });
    expect(stdout).not.toContain('hidden');
  });
});
