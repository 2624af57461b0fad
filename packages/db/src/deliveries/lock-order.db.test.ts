import { describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { untilBlocked } from '@paddock/testing/sessions';
import { putWorker } from '@paddock/testing/demand-rows';
import { type RawBuilder, sql } from 'kysely';
import { endJoblessGraces } from '../jobs/jobs-in-doubt.ts';
import { jobToStore } from '../jobs/read-jobs.ts';
import { storeJobs } from '../jobs/store-jobs.ts';
import { saveKeyStates } from '../matching/demand.ts';
import { bindWorkers } from '../workers/failing-keys.ts';
import type { Trx } from '../schema/tables.ts';
import { ACME, ofJob, pools } from '@paddock/testing/deliveries-to-record';
import { recordDeliveries } from './record-deliveries.ts';

const database = useTestDatabase();

/** One time for all: a body that is sent again says the same. */
const QUEUED_AT = new Date().toISOString();

const jobDelivery = (
  id: number,
  {
    owner = ACME,
    installation = 31,
    runner = null as string | null,
    action = undefined as 'completed' | undefined,
  } = {},
) =>
  ofJob(action ?? (runner === null ? 'queued' : 'in_progress'), id, {
    owner,
    installation,
    job: {
      created_at: QUEUED_AT,
      started_at: QUEUED_AT,
      runner_name: runner,
      runner_id: runner && 5,
    },
  });

const jobsOf = (deliveries: readonly ReturnType<typeof jobDelivery>[]) =>
  deliveries.flatMap(({ parsed, appId, guid }) =>
    parsed.kind === 'job'
      ? [jobToStore(pools.document, { ...parsed.job, appId, deliveryGuid: guid })]
      : [],
  );

const inTransaction = (act: (trx: Trx) => Promise<unknown>) => () =>
  database.db.transaction().execute(act);

/**
 * Holds the first row until `act` waits for it, and says whether `act` has left the second one free
 * until then.
 */
async function comesFirst(
  first: RawBuilder<unknown>,
  second: RawBuilder<unknown>,
  act: () => Promise<unknown>,
  others = 1,
): Promise<boolean> {
  const { acting, isFree } = await database.db.transaction().execute(async (trx) => {
    await sql`select ${first} for update`.execute(trx);
    const started = Promise.allSettled([act()]);
    await untilBlocked(database.db);
    const { rows } = await sql`select ${second} for update skip locked`.execute(trx);
    return { acting: started, isFree: rows.length === others };
  });
  expect(await acting).toMatchObject([{ status: 'fulfilled' }]);
  return isFree;
}

const job = (id: number) => sql`from jobs where job_id = ${id}`;
const worker = (name: string) => sql`from workers where pod_name = ${name}`;
const key = (id: number) => sql`from demand_keys where demand_key = ${id}`;
const installationOf = (id: number) => sql`from installations where entity_id = ${id}`;

describe('rows are locked in one order, for any order of the input (B6)', () => {
  test('jobs by id', async () => {
    const ids = [101, 102, 103, 104, 105, 106, 107, 108];
    await recordDeliveries(
      database.db,
      ids.map((id) => jobDelivery(id)),
      pools,
    );
    const begun = ids.map((id) => jobDelivery(id, { runner: 'one' }));
    const isInOrder = await comesFirst(
      job(101),
      sql`from jobs where job_id between 102 and 108`,
      () => recordDeliveries(database.db, begun.toReversed(), pools),
      ids.length - 1,
    );
    expect(isInOrder).toBe(true);
  });

  test('new jobs by id', async () => {
    const deliveries = [201, 202, 203, 204, 205, 206, 207, 208].map((id) => jobDelivery(id));
    const [first, ...others] = jobsOf(deliveries);
    if (first === undefined) throw new Error('There are several jobs.');
    const { recorded } = await database.db.transaction().execute(async (trx) => {
      await storeJobs(trx, [first], pools.version);
      const started = recordDeliveries(database.db, deliveries.toReversed(), pools);
      await untilBlocked(database.db);
      // Would deadlock if one of these came before the first.
      await storeJobs(trx, others, pools.version);
      return { recorded: started };
    });
    expect(new Set(await recorded)).toEqual(new Set(['job_already_exists']));
  });

  test('new jobs before the update of known ones, which another batch may take for new', async () => {
    await recordDeliveries(database.db, [jobDelivery(301)], pools);
    const reading = await database.db.startTransaction().execute();
    await sql`select ${job(301)} for update`.execute(reading);
    const older = recordDeliveries(
      database.db,
      [jobDelivery(301, { runner: 'one' }), ...[302, 303, 304].map((id) => jobDelivery(id))],
      pools,
    );
    await untilBlocked(database.db);
    // The older batch has been read and does not know this job.
    await recordDeliveries(database.db, [jobDelivery(304)], pools);
    const inserting = await database.db.startTransaction().execute();
    await storeJobs(inserting, jobsOf([jobDelivery(303)]), pools.version);
    await reading.commit().execute();
    await untilBlocked(database.db, { by: inserting });
    // The older batch has inserted 302, and goes on to 304 after 303.
    const younger = recordDeliveries(
      database.db,
      [jobDelivery(302), jobDelivery(304, { runner: 'one' })],
      pools,
    );
    await untilBlocked(database.db, { count: 2 });
    await inserting.rollback().execute();
    expect(await Promise.all([older, younger])).toEqual([
      ['job_marked_running', 'repeated_body', 'job_stored', 'repeated_body'],
      ['job_stored', 'job_marked_running'],
    ]);
  });

  test('workers by name', async () => {
    const [one, other] = [await putWorker(database.db), await putWorker(database.db)].map(
      (row) => row.pod_name,
    );
    if (one === undefined || other === undefined) throw new Error('There are two workers.');
    const bindings = [
      { worker: other, jobId: 1 },
      { worker: one, jobId: 2 },
    ];
    expect(
      await comesFirst(
        worker(one),
        worker(other),
        inTransaction((trx) => bindWorkers(trx, bindings)),
      ),
    ).toBe(true);
  });

  test('demand keys by their ids', async () => {
    const of = { entityId: 11, entityName: 'acme', scopeRepoId: 0, waiting: 1, unassigned: 0 };
    const [one, two] = [
      { demandKey: 1, pool: 'a' },
      { demandKey: 2, pool: 'b' },
    ];
    const states = [two, one].map((named) =>
      Object.assign(named, of, { cap: null, waitReason: null }),
    );
    const save = inTransaction((trx) => saveKeyStates(trx, states));
    await save();
    expect(await comesFirst(key(1), key(2), save)).toBe(true);
  });

  test('installations by entity, from deliveries of jobs', async () => {
    const owners = [ACME, { ...ACME, id: 12, login: 'beta' }];
    const deliveries = (installation: number) =>
      owners.map((owner) => jobDelivery(10 + owner.id, { owner, installation }));
    await recordDeliveries(database.db, deliveries(51), pools);
    const again = deliveries(52).toReversed();
    expect(
      await comesFirst(installationOf(11), installationOf(12), () =>
        recordDeliveries(database.db, again, pools),
      ),
    ).toBe(true);
  });
});

test('one transaction ends the graces of one demand key, since it may count a failure of each worker', async () => {
  const [stopping_at, unexplained_until] = [new Date(), new Date(Date.now() + 60_000)];
  for (const scope_repo_id of [5, 6])
    await putWorker(database.db, { scope_repo_id, stopping_at, unexplained_until });
  for (const many of [1, 1, 0])
    expect(await database.db.transaction().execute((trx) => endJoblessGraces(trx, 1))).toHaveLength(
      many,
    );
});

test('a job stays locked from its reading to its writing (A6, B6)', async () => {
  await recordDeliveries(database.db, [jobDelivery(5)], pools);
  const { recorded } = await database.db.transaction().execute(async (trx) => {
    // The delivery is read, and cannot be written.
    await sql`lock table installation_events in share mode`.execute(trx);
    const batch = [jobDelivery(5, { runner: 'one' }), jobDelivery(6)];
    const started = recordDeliveries(database.db, batch, pools);
    await untilBlocked(database.db);
    const { rows } = await sql`select ${job(5)} for update skip locked`.execute(trx);
    expect(rows).toEqual([]);
    return { recorded: started };
  });
  expect(await recorded).toEqual(['job_marked_running', 'job_stored']);
});

test('a job that comes alone, and changes between its reading and its writing, is merged again (A6, B6)', async () => {
  const installation = 60;
  await recordDeliveries(database.db, [jobDelivery(7, { installation })], pools);
  const { recorded } = await database.db.transaction().execute(async (trx) => {
    await storeJobs(
      trx,
      jobsOf([jobDelivery(7, { installation, runner: 'one', action: 'completed' })]),
      1,
    );
    const started = recordDeliveries(
      database.db,
      [jobDelivery(7, { installation, runner: 'one' })],
      pools,
    );
    await untilBlocked(database.db);
    return { recorded: started };
  });
  expect(await recorded).toEqual(['job_already_exists']);
  expect(await sql`select status ${job(7)}`.execute(database.db)).toMatchObject({
    rows: [{ status: 'completed' }],
  });
});

test('a job is seen to run only together with the worker that is bound to it (B7)', async () => {
  const of = (table: 'jobs' | 'installation_events') =>
    database.db.selectFrom(table).selectAll().where('job_id', '=', 4);
  const { pod_name: name } = await putWorker(database.db, { entity_id: 11, runner_id: 5 });
  const { recorded } = await database.db.transaction().execute(async (trx) => {
    await sql`select from workers where pod_name = ${name} for update`.execute(trx);
    const started = recordDeliveries(database.db, [jobDelivery(4, { runner: name })], pools);
    await untilBlocked(database.db);
    for (const table of ['jobs', 'installation_events'] as const)
      expect(await of(table).execute()).toEqual([]);
    return { recorded: started };
  });
  expect(await recorded).toEqual(['job_stored']);
  expect(await of('jobs').execute()).toMatchObject([{ status: 'running', k8s_pod: name }]);
});
