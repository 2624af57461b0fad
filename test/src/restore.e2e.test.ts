import { describe, expect, test } from '@jest/globals';
import type { Db } from '@paddock/db/schema/tables';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { useFolder } from '@paddock/testing/use-folder';
import { waitFor } from '@paddock/testing/wait-for';
import { putPools } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { APP_ID, kill, useSystem } from './start-system.ts';

/**
 * Soon enough for a test; new services take over the dead ones' tasks, and ended rows are removed.
 */
const SHORT = {
  settings: { PADDOCK_POD_GRACE_SUCCEEDED_MS: '0', PADDOCK_POD_GRACE_FAILED_MS: '0' },
  rules: {
    scheduler: {
      leaseMs: 2_000,
      leaseRenewMs: 500,
      stopIdleApartMs: 500,
      stopLastLookMs: 500,
      stopOfflineMs: 1_000,
      stopRetryMs: 1_000,
    },
    queue: { taskLeaseMs: 5_000, taskBackoffFirstMs: 200 },
    db: { surplusAfterMs: 1_000 },
    reconciler: { endedPodsEverySeconds: 1 },
  },
};
const ROOT = join(import.meta.dirname, '..', '..');
const SERVICES = ['ingress', 'scheduler', 'reconciler'] as const;
/** Longer than the test: such a job ends when it is cancelled. */
const LONG_MS = 3_600_000;
/** A net for a hung test: the services are started twice. */
const NET_MS = 240_000;
/** As many as acme may have at once. */
const CAP = 5;

/** GitHub has another clock, and its log has whole seconds. */
const sinceBefore = (instant: Date): string => new Date(instant.getTime() - 60_000).toISOString();

describe('the database is restored from a backup while pods and runners live on (E6, E1, P1, P2, P3)', () => {
  const system = useSystem();
  const queue = (count: number, durationMs: number, repo = 'acme/shop') =>
    system.queueJobs(count, { repo, durationMs });
  const start = async () => {
    for (const service of SERVICES) await system.start(service, SHORT);
  };

  test(
    'no working runner is killed, its pod is adopted, acknowledged and lost deliveries come back, and all settles',
    async () => {
      const { github, cluster, database } = system;
      await start();
      const endedBefore = await queue(2, 20);
      await system.untilJobs(endedBefore, 'completed');
      const ranAtBackup = await queue(1, LONG_MS);
      await system.untilJobs(ranAtBackup, 'running');
      const backup = await takeBackup(database.db, database.schema);

      // The hour that is lost: a job of the backup ends, others come and end, come and run, come
      // and wait.
      for (const id of ranAtBackup) await github.cancelJob(id);
      const endedMeanwhile = [...(await queue(2, 20)), ...(await queue(1, 20, 'mona/dotfiles'))];
      await system.untilJobs([...ranAtBackup, ...endedMeanwhile], 'completed');
      await system.untilWorkersEnd();
      const running = await queue(CAP, LONG_MS);
      await system.untilJobs(running, 'running');
      const waiting = await queue(2, 20);
      await system.untilJobs(waiting, 'pending');
      const working = await system.liveWorkers();

      for (const program of system.running.values()) await kill(program);
      await backup.restore();
      // The backup is an hour old: no pod of its workers can be too young to be missed.
      await sql`update workers set created_at = created_at - interval '1 hour'`.execute(
        database.db,
      );
      expect(await system.jobsThat('running')).toEqual(ranAtBackup);
      // Everything comes back at once: before the pods that run are adopted, nothing may be made.
      const subject = { type: 'app', id: String(APP_ID) };
      const payload = { since: sinceBefore(backup.takenAt) };
      await enqueueAlone(database.db, [{ kind: 'redeliver', subject, payload }]);
      await start();

      await waitFor('the pods that run to be adopted', async () => {
        const names = new Set((await system.liveWorkers()).map(({ pod_name: name }) => name));
        return working.every(({ pod_name: name }) => names.has(name));
      });
      await system.untilJobs([...ranAtBackup, ...endedMeanwhile], 'completed');
      await system.untilJobs(running, 'running');
      await system.untilJobs(waiting, 'pending');
      expect(await system.liveWorkers()).toEqual(expect.arrayContaining(working));
      const atWork = (await github.truth()).jobs.filter(
        ({ id, status }) => running.includes(id) && status === 'in_progress',
      );
      expect(atWork).toHaveLength(CAP);

      for (const id of running) await github.cancelJob(id);
      await system.untilJobs([...running, ...waiting], 'completed');
      await system.untilWorkersEnd();
      await waitFor('registrations, Secrets and pods to go', async () => {
        const { secretsLeft, podsByPhase } = cluster.report();
        const pods = Object.values(podsByPhase).reduce((sum, count) => sum + count, 0);
        return (await github.truth()).runners.length + secretsLeft.length + pods === 0;
      });
      const { lost, killed } = await github.report();
      expect({ lost, killed }).toEqual({ lost: 0, killed: 0 });
      expect(cluster.report().mostActivePods).toBeLessThanOrEqual(CAP + 1); // and one of mona’s
    },
    NET_MS,
  );
});

describe('the commands of docs/back-up.md', () => {
  const database = useTestDatabase();
  const folder = useFolder();

  test('they bring rows, roles and rights back: pg_dump and pg_restore where they fit the server, else only what follows (E6, H6)', async () => {
    const page = readFileSync(join(ROOT, 'docs/back-up.md'), 'utf8');
    const [, block = ''] = /^```sh\n(pg_dump.*?)^```/ms.exec(page) ?? [];
    const [dump = '', restore = '', migrate = ''] = block.split('\n');
    const run = (command: string) => {
      const { PATH } = process.env;
      // The package manager is there, and would look for itself in the registry.
      const npx = `npx() { '${process.execPath}' '${join(ROOT, 'apps/migrate')}'; }`;
      const env = { PATH, DATABASE_URL: database.url };
      const given = { cwd: folder, encoding: 'utf8', env } as const;
      return spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', `${npx}\n${command}`], given);
    };
    const pools = () => database.dbOf('scheduler').selectFrom('pools_documents').selectAll();
    await putPools(database.db);
    const before = await pools().execute();
    const { stderr } = run(dump);
    const fits = !/server version mismatch|pg_dump: command not found/.test(stderr);
    expect(fits ? stderr : '').toBe('');
    const kept = fits ? undefined : await takeBackup(database.db, database.schema);
    await sql`truncate pools_documents`.execute(database.db);
    expect(fits ? run(restore) : { status: 0 }).toMatchObject({ status: 0 });
    await kept?.restore();
    expect(run(migrate)).toMatchObject({ status: 0 });
    expect(await pools().execute()).toEqual(before);
  });
});

/**
 * Takes a backup of all tables while the services work, as pg_dump would; it is kept in the same
 * database.
 */
async function takeBackup(db: Db, schema: string) {
  const tables = await columnsToKeep(db, schema);
  const takenAt = await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      await sql`create schema backup`.execute(trx);
      for (const { table, columns } of tables) {
        await sql`create table ${sql.table(`backup.${table}`)} as select ${columns} from ${sql.table(table)}`.execute(
          trx,
        );
      }
      const { rows } = await sql<{ now: Date }>`select now()`.execute(trx);
      return rows[0]?.now ?? new Date();
    });
  return {
    takenAt,
    /** Puts every table back as it was. No service may run meanwhile. */
    restore: () =>
      db.transaction().execute(async (trx) => {
        await sql`truncate ${sql.join(tables.map(({ table }) => sql.table(table)))}`.execute(trx);
        for (const { table, columns } of tables)
          await sql`insert into ${sql.table(table)} (${columns}) overriding system value
            select ${columns} from ${sql.table(`backup.${table}`)}`.execute(trx);
      }),
  };
}

/** Tables that refer to others come last. */
async function columnsToKeep(db: Db, schema: string) {
  const { rows } = await sql<{ table: string; columns: string[] }>`
    select table_name as "table", array_agg(column_name::text order by ordinal_position) as columns
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = ${schema} and table_type = 'BASE TABLE' and is_generated = 'NEVER' and not starts_with(table_name, 'schema_migration')
    group by table_name
    order by exists (
      select from pg_constraint where contype = 'f' and conrelid = to_regclass(${schema} || '.' || quote_ident(table_name)))`.execute(
    db,
  );
  return rows.map(({ table, columns }) => ({
    table,
    columns: sql.join(columns.map((column) => sql.ref(column))),
  }));
}
