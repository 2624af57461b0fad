import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { bodyDigest } from '@paddock/domain/deliveries/body-digest';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import { examplePayload } from '@paddock/testing/signed-delivery';
import { createPools } from './pools.ts';
import { createWriteDeliveries } from './write-deliveries.ts';

const database = useTestDatabase();
beforeAll(async () => {
  await putPools(database.db, examplePools());
});
beforeEach(async () => {
  await database.db.deleteFrom('schedules').execute();
  await database.db
    .insertInto('schedules')
    .values({ name: 'look-up-jobs', last_tick_at: new Date() })
    .execute();
});

/**
 * Stores a job that was queued so long ago, and says whether a look-up is wanted beside its ticks.
 */
async function isLookUpWanted(jobId: number, hours: number): Promise<boolean> {
  const own = database.dbOf('ingress');
  const pools = createPools({
    db: own,
    refreshMs: 1_000,
    onChange: () => undefined,
    onError: () => undefined,
  });
  await pools.once();
  const queuedAt = new Date(Date.now() - hours * 3_600_000).toISOString();
  const job = { id: jobId, labels: ['linux'], created_at: queuedAt, runner_name: null };
  const body = examplePayload('workflow_job', 'queued', {
    workflow_job: job,
    repository: { private: true },
  });
  const parsed = parseDelivery('workflow_job', body);
  if (parsed.kind === 'malformed') throw new Error(parsed.problem);
  const payload = JSON.stringify(body);
  const digest = bodyDigest({ appId: 7, event: 'workflow_job' }, payload);
  const write = createWriteDeliveries(own, pools, () => undefined);
  const delivery = {
    guid: crypto.randomUUID(),
    appId: 7,
    parsed,
    payload,
    payloadRepaired: false,
    bodyDigest: digest,
  };
  expect(await write([delivery])).toEqual(['job_stored']);
  const schedules = await database.db.selectFrom('schedules').select('extra_at').execute();
  return schedules.some(({ extra_at: extraAt }) => extraAt !== null);
}

test('a job whose approval came after more than a day is looked up at once, and no other', async () => {
  expect(await isLookUpWanted(1, 23)).toBe(false);
  expect(await isLookUpWanted(2, 25)).toBe(true);
});
