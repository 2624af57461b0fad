import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MIGRATIONS, migrate } from '@paddock/db/migrate';
import { SCHEMA_VERSION } from '@paddock/db/schema-version';
import type { Program } from '@paddock/processes/start-program';
import { appProgram } from '@paddock/testing/processes';
import { waitFor } from '@paddock/testing/wait-for';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type ServiceName, useSystem } from './start-system.ts';

const SERVICES = ['ingress', 'scheduler', 'reconciler'] as const;
/** That many jobs complete in each stage. */
const ENOUGH = 5;
const AT_ONCE = 6;
/** Of shorter ones so many would run that GitHub's limit of registrations a minute holds them up. */
const DURATION_MS = 1_000;

/** What a migration may do beside services that do not know it. */
const MADE_UP = `
  alter table jobs add column made_up integer not null default 0;
  alter table workers add column made_up text;
  alter table tasks add column made_up jsonb not null default '{}';
  create table made_up (job_id bigint primary key references jobs (job_id) on delete cascade);
  create index jobs_made_up on jobs (made_up, created_at) where wants_worker;
  create or replace function touch_row() returns trigger language plpgsql as $$
  begin
    new.updated_at := now();
    new.revision := old.revision + 1;
    if tg_table_name = 'jobs' then
      new.made_up := old.made_up + 1;
    end if;
    return new;
  end $$;`;

let next: Awaited<ReturnType<typeof makeNextVersion>>;
let stopLoad: ReturnType<typeof startLoad> | undefined;

afterAll(() => stopLoad?.());
const system = useSystem();
beforeAll(async () => {
  next = await makeNextVersion(MADE_UP);
});
afterAll(() => next.remove());

/**
 * Starts a service of a version beside the running one, and ends that one when it is ready and gets
 * no more deliveries: the chart's `preStop` gives it the time for that. Resolves with that one's
 * end.
 */
async function replace(service: ServiceName, version: 'this' | 'next') {
  const before = system.running.get(service);
  const program = version === 'next' ? next.program(service) : undefined;
  await system.start(service, { program });
  if (before === undefined) return undefined;
  await untilMoreCompleted();
  before.kill('SIGTERM');
  return before.exited;
}

const completed = async () => (await system.github.report()).completed;

async function untilMoreCompleted(): Promise<void> {
  const enough = (await completed()) + ENOUGH;
  await waitFor(`${enough} jobs to complete`, async () => (await completed()) >= enough);
}

/** Queues a job whenever fewer than a few are open, until it is stopped. */
function startLoad() {
  const stop = new AbortController();
  const loading = waitFor(
    'the end of the load',
    async () => {
      const { jobs, completed: done } = await system.github.report();
      if (!stop.signal.aborted && jobs - done < AT_ONCE) {
        await system.queueJobs(1, { durationMs: DURATION_MS });
      }
      return stop.signal.aborted;
    },
    // As long as the replacements take.
    { timeoutMs: Number.POSITIVE_INFINITY },
  );
  loading.catch(() => undefined); // awaited when it is stopped
  return () => {
    stop.abort();
    return loading;
  };
}

const readiness = async ({ healthPort }: Program) => {
  const answer = await fetch(`http://127.0.0.1:${healthPort}/readyz`);
  return answer.ok ? 'ready' : answer.text();
};

describe('an upgrade to the next version under load (A10)', () => {
  let early: Program;

  test('a service of the next version waits for its migration, and says so', async () => {
    for (const service of SERVICES) await replace(service, 'this');
    stopLoad = startLoad();
    early = await system.start('scheduler', { program: next.program('scheduler') });
    await untilMoreCompleted();
    expect(await readiness(early)).toContain(
      `is at version ${SCHEMA_VERSION} and this service needs ${SCHEMA_VERSION + 1}`,
    );
  });

  test('services of this version go on while the migration is applied, and the early one is ready', async () => {
    const { url, schema } = system.database;
    expect(await migrate({ url, schema, folder: next.migrations })).toEqual({
      applied: [next.newest],
    });
    await untilMoreCompleted();
    await waitFor('the early one to be ready', async () => (await readiness(early)) === 'ready');
    early.kill('SIGTERM');
    expect(await early.exited).toEqual({ code: 0, signal: null });
  });

  // The upgrade, and its rollback.
  test.each(['next', 'this'] as const)('%s version takes over', async (version) => {
    for (const service of SERVICES) {
      expect(await replace(service, version)).toEqual({ code: 0, signal: null });
      await untilMoreCompleted();
    }
  });

  test('after the rollback the migrator leaves the schema as it is', async () => {
    const { url, schema } = system.database;
    expect(await migrate({ url, schema })).toEqual({ applied: [], unknown: next.newest });
    await untilMoreCompleted();
  });

  test('no delivery was refused, no job lost and no second worker made (P1, P2, P3)', async () => {
    await stopLoad?.();
    await waitFor('all jobs to complete', async () => (await system.github.report()).lost === 0);
    const { jobs, registrations, ...report } = await system.github.report();
    expect(report).toMatchObject({ lost: 0, killed: 0, excessWorkers: 0, failedDeliveries: 0 });
    expect(registrations).toBe(jobs);
  });
});

/**
 * A version made up by a test: today's services, but they need one more migration. Its programs are
 * the bundles of this run with another number.
 */
async function makeNextVersion(migration: string) {
  const folder = await mkdtemp(join(tmpdir(), 'paddock-next-'));
  const migrations = join(folder, 'migrations');
  const newest = `${String(SCHEMA_VERSION + 1).padStart(4, '0')}_made_up`;
  await cp(MIGRATIONS, migrations, { recursive: true });
  await writeFile(join(migrations, `${newest}.sql`), migration);
  const version = `SCHEMA_VERSION=${SCHEMA_VERSION + 1}`;
  const programs = dirname(appProgram('ingress'));
  for (const name of (await readdir(programs)).filter((file) => file.endsWith('.mjs'))) {
    const code = await readFile(join(programs, name), 'utf8');
    await writeFile(join(folder, name), code.replace(/SCHEMA_VERSION=\d+/, version));
  }
  return {
    /** The folder of its migrations. */
    migrations,
    /** The name of its own migration. */
    newest,
    program: (service: ServiceName) => join(folder, `${service}.mjs`),
    remove: () => rm(folder, { recursive: true }),
  };
}
