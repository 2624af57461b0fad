import { isDeepStrictEqual } from 'node:util';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { emptyAll, useTestDatabase } from '@paddock/testing/use-test-database';
import { fc } from '@paddock/testing/random-cases';
import { putWorker } from '@paddock/testing/demand-rows';
import type { Selectable } from 'kysely';
import { type Deliveries, deliveriesOfJobs, pools } from '@paddock/testing/job-lives';
import { type DeliveryToRecord, recordDeliveries } from '../deliveries/record-deliveries.ts';
import type { Database } from '../schema/tables.ts';

const RANK = { pending: 0, running: 1, completed: 2, failed: 2 };

describe('the final row of a job', () => {
  const database = useTestDatabase();
  const clear = () => emptyAll(database.db);
  beforeEach(clear);

  const record = (batch: readonly DeliveryToRecord[]) =>
    recordDeliveries(database.db, batch, pools);

  async function begin({ lives }: Deliveries) {
    await clear();
    const ours = lives.flatMap(({ starts }) => starts.filter((start) => start.ours));
    for (const { runner } of ours)
      await putWorker(database.db, { pod_name: runner, status: 'running', entity_id: 11 });
  }

  const rows = () => database.db.selectFrom('jobs').selectAll().orderBy('job_id').execute();

  /**
   * All facts from GitHub, without those about the writing: its times, its number, and which
   * delivery came first.
   */
  async function truth() {
    const jobs = await rows();
    const workers = await database.db
      .selectFrom('workers')
      .select(['pod_name', 'assigned_job_id', 'status'])
      .orderBy('pod_name')
      .execute();
    const installations = await database.db
      .selectFrom('installations')
      .select(['entity_id', 'app_id', 'installation_id', 'login'])
      .orderBy('app_id')
      .execute();
    const writing = { created_at: 0, updated_at: 0, revision: 0, delivery_guid: 0 };
    return { jobs: jobs.map((job) => Object.assign(job, writing)), workers, installations };
  }

  test('depends on the set that was received and on nothing else: one by one, in any order, however often (A5, A6, B3, B7)', async () => {
    await fc.assert(
      fc.asyncProperty(deliveriesOfJobs(1), async (deliveries) => {
        await begin(deliveries);
        for (const delivery of deliveries.received) await record([delivery]);
        const expected = await truth();
        await begin(deliveries);
        let before = await rows();
        for (const delivery of deliveries.arrived) {
          await record([delivery]);
          const after = await rows();
          expectWrittenIfChanged(before, after);
          for (const [index, row] of before.entries()) {
            expect(RANK[after[index]?.status ?? 'pending']).toBeGreaterThanOrEqual(
              RANK[row.status],
            );
            expect(!row.wants_worker && after[index]?.wants_worker).toBe(false);
          }
          before = after;
        }
        expect(await truth()).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  test('is the same for any division into batches, of several jobs at once (B6)', async () => {
    await fc.assert(
      fc.asyncProperty(deliveriesOfJobs(4), async (deliveries) => {
        await begin(deliveries);
        for (const delivery of deliveries.received) await record([delivery]);
        const expected = await truth();
        for (const batches of [[deliveries.arrived], cutInto(deliveries)]) {
          await begin(deliveries);
          for (const batch of batches) await record(batch);
          expect(await truth()).toEqual(expected);
        }
      }),
      { numRuns: 40 },
    );
  });
});

/** `revision` changes exactly when another column does. */
function expectWrittenIfChanged(
  before: readonly Selectable<Database['jobs']>[],
  after: readonly Selectable<Database['jobs']>[],
): void {
  const untouched = { updated_at: 0, revision: 0 };
  for (const [index, row] of before.entries()) {
    const now = after[index] ?? row;
    const isChanged = !isDeepStrictEqual({ ...row, ...untouched }, { ...now, ...untouched });
    expect(now.revision > row.revision).toBe(isChanged);
  }
}

function cutInto({ arrived, cuts }: Deliveries): DeliveryToRecord[][] {
  const batches: DeliveryToRecord[][] = [[]];
  for (const [index, delivery] of arrived.entries()) {
    batches.at(-1)?.push(delivery);
    if (cuts[index] === true) batches.push([]);
  }
  return batches.filter((batch) => batch.length > 0);
}
