import { beforeEach, describe, expect, test } from '@jest/globals';
import { type DoubtRules, markJobsInDoubt } from '@paddock/db/jobs/jobs-in-doubt';
import type { Database, Db } from '@paddock/db/schema/tables';
import { minutesAgo, putJob, putWorker } from '@paddock/testing/demand-rows';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { untilBlocked } from '@paddock/testing/sessions';
import { countStatements } from '@paddock/testing/watched-statements';
import type { Insertable, Updateable } from 'kysely';
import { putReason } from '../scenes/jobs.scene.ts';
import { CONFIG } from '../scenes/sweep.scene.ts';

const database = useTestDatabase();

beforeEach(() => emptyTables(database.db, ['jobs', 'workers', 'demand_keys']));

const mark = ({
  db = database.dbOf('reconciler'),
  ...rules
}: Partial<DoubtRules> & { db?: Db } = {}) => markJobsInDoubt(db, { ...CONFIG, ...rules });
const recover = async (given?: Parameters<typeof mark>[0]) => {
  const marked = await mark(given);
  const recovered = marked.filter(({ isRecovered }) => isRecovered).length;
  const failed = marked.filter(({ isLost }) => isLost).length;
  return { recovered, suspected: marked.length - recovered - failed, failed };
};
const NONE = { recovered: 0, suspected: 0, failed: 0 };

type Given = Partial<Insertable<Database['jobs']>>;
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
/** A job that has waited for so long. */
const putWaiting = async (minutes: number, given: Given = {}) =>
  (await putJob(database.db, { created_at: ago(minutes), queued_at: ago(minutes), ...given }))
    .job_id;
const running = { status: 'running', wants_worker: false } as const;
/** A running job whose worker ended `minutes` ago. */
const putOrphan = async (endedMinutes: number, given: Given = {}) => {
  const ended = { status: 'failed', completed_at: minutesAgo(endedMinutes) } as const;
  const { pod_name: k8s_pod } = await putWorker(database.db, ended);
  return putWaiting(endedMinutes + 5, { ...running, k8s_pod, ...given });
};
const row = (jobId: number) =>
  database.db.selectFrom('jobs').selectAll().where('job_id', '=', jobId).executeTakeFirstOrThrow();
const setJobs = (values: Updateable<Database['jobs']>) =>
  database.db.updateTable('jobs').set(values).execute();
const untouched = { recovery_attempts: 0, lookup_due_at: null };
/** Recovery has not helped, and GitHub has not answered for a day. */
const silent = { recovery_attempts: 3, recovered_at: ago(11), unanswered_since: ago(1441) };
const recovered = { recovery_attempts: 1, lookup_due_at: expect.any(Date) };

describe('stuck jobs (E3)', () => {
  test('finds exactly the stale ones', async () => {
    const stuck = [await putWaiting(11), await putOrphan(11)];
    const fine = [
      await putWaiting(9),
      await putOrphan(9),
      await putWaiting(11, { status: 'completed', wants_worker: false }),
      await putWaiting(11, { status: 'failed', wants_worker: false }),
    ];
    const alive = { status: 'running', running_at: minutesAgo(1), k8s_pool: 'other' } as const;
    const { pod_name: k8s_pod } = await putWorker(database.db, alive);
    fine.push(await putWaiting(30, { ...running, k8s_pod }));
    fine.push(await putWaiting(30, { k8s_pool: 'other' }));
    expect(await recover()).toEqual({ ...NONE, recovered: 2 });
    for (const job of stuck) expect(await row(job)).toMatchObject(recovered);
    for (const job of fine) expect(await row(job)).toMatchObject(untouched);
  });

  test('recovery adds one and makes the work due', async () => {
    const job = await putWaiting(11);
    const { revision } = await row(job);
    await recover();
    const again = { status: 'pending', wants_worker: true, revision: revision + 1, ...recovered };
    expect(await row(job)).toMatchObject(again);
    expect(await recover()).toEqual(NONE);
    await setJobs({ recovered_at: ago(11), lookup_due_at: null });
    expect(await recover()).toMatchObject({ recovered: 1 });
    expect(await row(job)).toMatchObject({ recovery_attempts: 2 });
  });

  test('neither a good stored reason nor a start that is not known is a recovery, nor what waits for its turn', async () => {
    const held = await putWaiting(59);
    await putReason(database.db, held, 'at_entity_cap');
    const { pod_name: k8s_pod } = await putWorker(database.db);
    const unstarted = await putWaiting(50, { ...running, k8s_pod, started_at: null });
    const lately = await putWaiting(11, { recovered_at: ago(5), recovery_attempts: 1 });
    const later = await putWaiting(300, { lookup_due_at: ago(-5), k8s_pool: 'other' });
    await putReason(database.db, later, 'at_pool_cap');
    expect(await recover()).toEqual(NONE);
    for (const job of [held, unstarted]) expect(await row(job)).toMatchObject(untouched);
    expect(await row(lately)).toMatchObject({ recovery_attempts: 1, lookup_due_at: null });
  });

  test('at the limit permanent failure with its reason', async () => {
    const waiting = await putWaiting(49 * 60, silent);
    const orphan = await putOrphan(25 * 60, { ...silent, looked_up_at: ago(1442) });
    expect(await recover()).toMatchObject({ failed: 2, recovered: 0 });
    const message =
      'the job was stuck, 3 recoveries did not help, and GitHub has not answered for it for 1440 minutes';
    for (const job of [waiting, orphan]) {
      // GitHub is still asked: it may know better.
      expect(await row(job)).toMatchObject({
        status: 'failed',
        wants_worker: false,
        failure_info: { version: 1, message },
        lookup_due_at: expect.any(Date),
      });
    }
  });

  test.each([
    ['for a job that GitHub still calls queued', { ...silent, looked_up_at: ago(30) }],
    ['before GitHub was asked about it', { ...silent, unanswered_since: null }],
    ['a day after it came, but asked about just now', { ...silent, unanswered_since: ago(1) }],
    ['before the limit', { ...silent, recovery_attempts: 2 }],
    ['while GitHub may still have it in its queue', { ...silent, queued_at: ago(47 * 60) }],
  ])('but never %s', async (_name, given) => {
    const job = await putWaiting(49 * 60, given);
    expect(await recover()).toMatchObject({ failed: 0, recovered: 1 });
    expect(await row(job)).toMatchObject({ status: 'pending', wants_worker: true });
  });

  test('a full batch takes the oldest, and the next pass the others', async () => {
    const jobs = [await putWaiting(13), await putWaiting(12), await putWaiting(11)];
    expect(await recover({ lookUpsOfPass: 2 })).toMatchObject({ recovered: 2 });
    expect(await row(jobs[2] ?? 0)).toMatchObject(untouched);
    expect(await recover({ lookUpsOfPass: 2 })).toMatchObject({ recovered: 1 });
  });
});

describe('suspects that are only looked up (E4)', () => {
  test('beside an idle worker: as many of the oldest as there are idle workers, and once in ten minutes', async () => {
    const idle = { running_at: minutesAgo(12), registered_at: minutesAgo(11) };
    await putWorker(database.db, { status: 'running', ...idle });
    const [oldest, other] = [await putWaiting(12), await putWaiting(11)];
    expect(await recover()).toMatchObject({ recovered: 0, suspected: 1 });
    const suspected = { recovery_attempts: 0, lookup_due_at: expect.any(Date) };
    expect(await row(oldest)).toMatchObject(suspected);
    expect(await row(other)).toMatchObject(untouched);
    await setJobs({ lookup_due_at: null, looked_up_at: new Date() });
    expect(await recover()).toEqual(NONE);
  });

  test.each([
    [59, null, false],
    [61, null, true],
    [239, 120, false],
    [241, 120, true],
    [20 * 60, 13 * 60, true],
    [20 * 60, 15 * 60, false],
  ])(
    'held back for %d minutes and looked up at the age of %s: due %s',
    async (age, lookedUpAtAge, isDue) => {
      const looked_up_at = lookedUpAtAge === null ? null : ago(age - lookedUpAtAge);
      const job = await putWaiting(age, { looked_up_at });
      await putReason(database.db, job, 'at_pool_cap');
      expect(await recover()).toMatchObject({ recovered: 0, suspected: isDue ? 1 : 0 });
    },
  );

  const elsewhere = { ...running, runner_name: 'a runner of others' };

  test('running without one of our workers, for an hour', async () => {
    await putWaiting(61, elsewhere);
    await putWaiting(59, elsewhere);
    expect(await recover()).toEqual({ ...NONE, suspected: 1 });
  });

  test('running on a runner that GitHub has not named: it may be ours, which looks idle until then', async () => {
    const job = await putWaiting(90, { ...running, looked_up_at: ago(80), started_at: ago(8) });
    expect(await recover()).toEqual({ ...NONE, suspected: 1 });
    for (const [minutes, suspected] of [
      [3, 0],
      [5, 1],
    ] as const) {
      await setJobs({ looked_up_at: ago(minutes), lookup_due_at: null });
      expect(await recover()).toEqual({ ...NONE, suspected });
    }
    await setJobs({ runner_name: 'a runner of others', looked_up_at: ago(5), lookup_due_at: null });
    expect(await recover()).toEqual(NONE);
    expect(await row(job)).toMatchObject(untouched);
  });
});

describe('the fence', () => {
  test('a row that left its state meanwhile is not touched', async () => {
    const job = await putWaiting(49 * 60, silent);
    const other = await putWaiting(11);
    const marked = await database.db.transaction().execute(async (trx) => {
      await trx.updateTable('jobs').set({ status: 'completed', wants_worker: false }).execute();
      const marking = mark();
      await untilBlocked(database.db);
      return { marking };
    });
    expect(await marked.marking).toEqual([]);
    expect(await row(job)).toMatchObject({ status: 'completed', recovery_attempts: 3 });
    expect(await row(other)).toMatchObject({ status: 'completed', ...untouched });
  });

  test('one statement for any number of jobs', async () => {
    for (let index = 0; index < 30; index++) {
      await putWaiting(11);
      await putWaiting(49 * 60, silent);
    }
    const counted = countStatements(database.db);
    expect(await recover({ db: counted.db })).toEqual({ ...NONE, recovered: 30, failed: 30 });
    expect(counted.count()).toBe(1);
    expect(await recover()).toEqual(NONE);
  });
});
