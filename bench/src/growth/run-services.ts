import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { connectDatabase } from '@paddock/db/connection/connect';
import type { Database } from '@paddock/db/schema/tables';
import type { Postgres } from '@paddock/embedded-postgres/start-postgres';
import type { GitHubControl } from '@paddock/simulators/github/control';
import { type Kysely, sql } from 'kysely';
import { APP_ID } from '../app-id.ts';
import { SCHEMA, startSystem, type SystemProcess } from '../burst/system.ts';
import type { Services } from './results.ts';
import { POOLS } from './year-columns.ts';

const SERVICES = ['scheduler', 'reconciler'] as const;
/** How often a job is queued, beside the demand of the rows. */
const JOB_EVERY_MS = 2_000;
const MINUTE_MS = 60_000;

interface Options {
  readonly entities: number;
  readonly minutes: number;
  readonly say: (line: string) => void;
}

/**
 * Lets the services work on the rows for `minutes`, with a simulated GitHub that knows the rows'
 * entities. Measures them once a minute.
 */
export async function runServices(
  postgres: Postgres,
  { entities, minutes, say }: Options,
): Promise<Services> {
  const system = await startSystem({
    postgres,
    services: SERVICES,
    pools: POOLS,
    idleRunners: false,
    furnish: (github) => putEntities(github, entities),
  });
  const options = {
    url: postgres.url(),
    schema: SCHEMA,
    poolSize: 1,
    applicationName: 'bench-growth',
    statementTimeoutMs: 0,
  };
  const { db, close } = connectDatabase(options);
  const stop = new AbortController();
  const queueing = queueJobs(system.github, entities, stop.signal);
  const services = system.processes.filter(
    ({ name }) => name === 'ingress' || SERVICES.some((service) => service === name),
  );
  try {
    const began = await databaseNow(db);
    const memory: Services['memory'][number][] = [];
    for (let minute = 1; minute <= minutes; minute++) {
      await Promise.race([sleep(MINUTE_MS), system.broken, queueing]);
      const megabytes = Object.fromEntries(await Promise.all(services.map(megabytesOf)));
      memory.push({ minute, megabytes });
      const { passes, failures } = await findFailures(db, began);
      say(
        `minute ${minute}: ${JSON.stringify(megabytes)} MB, ${passes} passes, ${failures.length} failed`,
      );
    }
    return { memory, ...(await findFailures(db, began)) };
  } finally {
    stop.abort();
    await queueing;
    await close();
    await system.close();
  }
}

async function putEntities(github: GitHubControl, entities: number): Promise<void> {
  for (let id = 1; id <= entities; id++) {
    await github.addOrganization({ login: `entity-${id}`, id });
    await github.addRepository({ owner: `entity-${id}`, name: 'repository', private: true });
    await github.install({ appId: APP_ID, account: `entity-${id}`, id, announce: false });
  }
}

async function queueJobs(
  github: GitHubControl,
  entities: number,
  signal: AbortSignal,
): Promise<void> {
  for (let n = 0; !signal.aborted; n++) {
    const pool = POOLS[n % POOLS.length] ?? '';
    await github.queueJob({
      repo: `entity-${(n % entities) + 1}/repository`,
      labels: ['self-hosted', pool],
      durationMs: 5_000,
    });
    await sleep(JOB_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function databaseNow(db: Kysely<Database>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(db);
  return rows[0]?.now ?? new Date();
}

const run = promisify(execFile);

async function megabytesOf({ name, pid }: SystemProcess): Promise<[string, number]> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
  return [name, Math.round(Number(stdout) / 1024)];
}

/** How many passes of sweeps have ended since, and the errors of failed attempts. */
async function findFailures(db: Kysely<Database>, since: Date): Promise<Omit<Services, 'memory'>> {
  const { rows } = await sql<{ passes: number; failures: string[] }>`
    with passes as (
      select kind, failures, finished_at, failure_message from operations where finished_at >= ${since} and subject_type in ('schedule', 'app')
      union all
      select kind, failures, null, null from tasks where subject_type in ('schedule', 'app')
    ), failed as (
      select kind || ': ' || failure_message as what from passes where failure_message is not null
      union all
      select kind || ': ' || (failure ->> 'message') from passes, jsonb_array_elements(failures) failure where (failure ->> 'at')::timestamptz >= ${since}
    )
    select (select count(*) from passes where finished_at is not null) as passes, array(select what from failed order by what) as failures`.execute(
    db,
  );
  return rows[0] ?? { passes: 0, failures: [] };
}
