import { beforeAll, describe, expect, test } from '@jest/globals';
import { findHoursToSum, sumUsage } from '@paddock/db/sum-usage';
import { putJob, putWorker } from '@paddock/testing/demand-rows';
import { untilBlocked } from '@paddock/testing/sessions';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { ask, askAll } from '../scenes/ask.scene.ts';
import { listUsageEndpoint } from './usage.ts';

const database = useTestDatabase();
const HOUR_MS = 3_600_000;
const START = Math.floor((Date.now() - 20 * HOUR_MS) / HOUR_MS) * HOUR_MS;

/** A worker that ended, and the job that it ran, if any. */
interface Ended {
  readonly entity: number;
  readonly repo: number | null;
  readonly workflow: string;
  readonly pool: string;
  readonly podMs: number;
  readonly jobMs: number;
  readonly failed: boolean;
  readonly queuedS: number;
}

const ENDED = { status: 'completed', wants_worker: false, conclusion: 'success' } as const;
const ended: Ended[] = [];

const sumHour = (hour: Date) => database.db.transaction().execute((trx) => sumUsage(trx, hour));

/** Sums up what the sweep would. */
async function sumAll(): Promise<number> {
  const { hours } = await findHoursToSum(database.db, { keptDays: 90, most: 500 });
  for (const hour of hours) await sumHour(hour);
  return hours.length;
}

beforeAll(async () => {
  const { db } = database;
  // The same numbers in every run.
  let drawn = 7;
  const below = (n: number) => {
    drawn = (drawn * 48_271) % 2_147_483_647;
    return drawn % n;
  };
  for (let n = 0; n < 80; n += 1) {
    const one: Ended = {
      entity: 1 + below(3),
      repo: n % 8 === 0 ? null : 10 + below(4),
      workflow: below(2) === 0 ? 'CI' : '=Nightly, "late"',
      pool: below(2) === 0 ? 'linux' : 'gpu',
      podMs: 10_000 + below(600_000),
      jobMs: 5_000 + below(300_000),
      failed: n % 9 === 0,
      queuedS: below(300),
    };
    ended.push(one);
    const at = START + below(15 * HOUR_MS);
    const ran = at + one.queuedS * 1_000;
    const row = { entity_id: one.entity, entity_name: `org-${one.entity}`, k8s_pool: one.pool };
    await putWorker(db, {
      ...row,
      pod_name: `w-${n}`,
      status: one.failed ? 'failed' : 'completed',
      assigned_job_id: one.repo === null ? null : n + 1,
      created_at: new Date(at),
      running_at: new Date(ran),
      completed_at: new Date(ran + one.podMs),
    });
    if (one.repo === null) continue;
    await putJob(db, {
      ...row,
      job_id: n + 1,
      status: 'completed',
      wants_worker: false,
      conclusion: 'success',
      repo_id: one.repo,
      repo_full_name: `org/app-${one.repo}`,
      workflow_name: one.workflow,
      k8s_pod: `w-${n}`,
      created_at: new Date(at),
      queued_at: new Date(at),
      started_at: new Date(ran),
      completed_at: new Date(ran + one.jobMs),
    });
  }
  await sumAll();
});

const list = (input: Readonly<Record<string, unknown>> = {}) =>
  ask(listUsageEndpoint, database.db, { limit: 100, ...input });

const sumOf = <T>(some: readonly T[], of: (one: T) => number): number =>
  some.reduce((sum, one) => sum + of(one), 0);

/** The sums of these, made one by one. */
const meant = (some: readonly Ended[]) => ({
  jobs: some.filter(({ repo }) => repo !== null).length,
  workers: some.length,
  runnerMinutes: expect.closeTo(sumOf(some, ({ podMs }) => podMs) / 60_000, 6),
  idleMinutes: expect.closeTo(
    sumOf(some, ({ podMs, jobMs, failed, repo }) =>
      failed ? 0 : podMs - (repo === null ? 0 : Math.min(jobMs, podMs)),
    ) / 60_000,
    6,
  ),
  thrownAwayMinutes: expect.closeTo(
    sumOf(some, ({ podMs, failed }) => (failed ? podMs : 0)) / 60_000,
    6,
  ),
});

/** As the answers round it. */
const rounded = (seconds: number) => (seconds < 100 ? seconds : Math.round(seconds / 10) * 10);
const quantile = (some: readonly Ended[], share: number) => {
  const sorted = some.flatMap(({ queuedS }) => rounded(queuedS)).toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
};

const KEYS = {
  pool: ({ pool }: Ended) => pool,
  entity: ({ entity }: Ended) => `${entity}`,
  repository: ({ repo }: Ended) => `${repo}`,
  workflow: ({ repo, workflow }: Ended) => `${repo} ${repo === null ? null : workflow}`,
} as const;
type Row = Awaited<ReturnType<typeof list>>['items'][number];
const KEY_OF: Readonly<Record<keyof typeof KEYS, (row: Row) => string>> = {
  pool: ({ pool }) => `${pool}`,
  entity: ({ entity }) => `${entity?.id}`,
  repository: ({ repository }) => `${repository?.id ?? null}`,
  workflow: ({ repository, workflow }) => `${repository?.id ?? null} ${workflow}`,
};

describe('usage (G1)', () => {
  test.each(['pool', 'entity', 'repository', 'workflow'] as const)(
    'by %s adds up to the times of the pods and the jobs',
    async (by) => {
      const { items, total } = await list({ by });
      expect(total).toMatchObject(meant(ended));
      const groups = Map.groupBy(ended, KEYS[by]);
      expect(items.map(KEY_OF[by]).toSorted()).toEqual([...groups.keys()].toSorted());
      for (const item of items) {
        const own = groups.get(KEY_OF[by](item)) ?? [];
        expect(item).toMatchObject(meant(own));
        const started = own.filter(({ repo }) => repo !== null);
        expect(item.queuedSeconds).toEqual(
          started.length === 0
            ? null
            : { p50: quantile(started, 0.5), p95: quantile(started, 0.95) },
        );
      }
      const minutes = items.map(({ runnerMinutes }) => runnerMinutes);
      expect(minutes).toEqual(minutes.toSorted((a, b) => b - a));
      expect(await askAll(listUsageEndpoint, database.db, { by, limit: '2' })).toEqual(items);
      const bySort = await askAll(listUsageEndpoint, database.db, { by, limit: '2', sort: 'idle' });
      const idle = bySort.map(({ idleMinutes }) => idleMinutes);
      expect(idle).toEqual(items.map(({ idleMinutes }) => idleMinutes).toSorted((a, b) => b - a));
    },
  );

  test.each(['hour', 'day'] as const)('by %s has each, the newest first', async (by) => {
    const { items, total } = await list({ by, limit: '200' });
    const began = items.map(({ at }) => Date.parse(at ?? ''));
    expect(began).toEqual([...new Set(began)].toSorted((a, b) => b - a));
    expect(sumOf(items, ({ jobs }) => jobs)).toBe(total.jobs);
    expect(sumOf(items, ({ started }) => started)).toBe(total.started);
  });

  test('stands beside the week before', async () => {
    const to = new Date(Date.now() + 7 * 24 * HOUR_MS).toISOString();
    const later = await list({
      by: 'pool',
      from: new Date(Date.now() + HOUR_MS).toISOString(),
      to,
    });
    const { total } = await list({ by: 'pool' });
    expect(later.total).toMatchObject({ jobs: 0, before: { jobs: total.jobs } });
    expect((await list({ by: 'day' })).total.before).toBeNull();
  });

  test.each([
    [{ pool: 'gpu', by: 'repository' }, ({ pool }: Ended) => pool === 'gpu'],
    [{ entity: '2', by: 'pool' }, ({ entity }: Ended) => entity === 2],
    [{ repository: '11', by: 'workflow' }, ({ repo }: Ended) => repo === 11],
    [{ to: new Date(START).toISOString() }, () => false],
  ])('takes %j', async (input, fits) => {
    expect((await list(input)).total).toMatchObject(meant(ended.filter(fits)));
  });
});

const hour = (ms: number) => new Date(Math.floor(ms / HOUR_MS) * HOUR_MS);
const find = (most = 500) => findHoursToSum(database.db, { keptDays: 90, most });

describe('the sums', () => {
  test('are made again only for hours that may have changed', async () => {
    const [newest] = (await find()).hours;
    // The two newest hours with a job may have got another.
    expect(await sumAll()).toBeLessThanOrEqual(2);
    await putJob(database.db, { job_id: 900, status: 'running', created_at: newest as Date });
    await sumAll();
    const before = (await list()).total.jobs;
    // Hours later there are others, and this one has a job that has not ended.
    await putJob(database.db, { job_id: 901, created_at: new Date(), ...ENDED });
    await sumAll();
    expect((await find()).hours).toContainEqual(newest);
    await sql`update jobs set status = 'completed', completed_at = now() where job_id = 900`.execute(
      database.db,
    );
    await sumAll();
    expect((await list()).total.jobs).toBe(before + 2);
    expect((await find()).hours).toEqual([hour(Date.now())]);
  });

  test('count an hour once that a killed process and its successor sum up at one time', async () => {
    const { db } = database;
    const [newest] = (await find()).hours;
    if (newest === undefined) throw new Error('There are hours with jobs.');
    await sumAll();
    const before = (await list()).total;
    const { both } = await db.transaction().execute(async (trx) => {
      await sql`select from usage_hours where hour = ${newest} for update`.execute(trx);
      const begun = Promise.all([sumHour(newest), sumHour(newest)]);
      await untilBlocked(db, { count: 2 });
      return { both: begun };
    });
    await both;
    expect((await list()).total).toEqual(before);
  });

  test('have a next page behind a workflow with a name of any length', async () => {
    const now = new Date();
    const named = { created_at: now, repo_id: 99, ...ENDED };
    for (const [nth, letter] of ['ä', 'ö', '"'].entries())
      await putJob(database.db, { ...named, job_id: 910 + nth, workflow_name: letter.repeat(900) });
    await sumAll();
    const input = { by: 'workflow', repository: '99', limit: '1' };
    expect(await askAll(listUsageEndpoint, database.db, input)).toHaveLength(3);
  });

  test('take a job that waited since the year 1, as GitHub may say (P6)', async () => {
    const before = (await list()).total.jobs;
    const now = new Date();
    const times = { created_at: now, queued_at: new Date('0001-01-01'), started_at: now };
    await putJob(database.db, { job_id: 902, ...times, ...ENDED });
    await sumAll();
    expect((await list()).total.jobs).toBe(before + 1);
  });
});
