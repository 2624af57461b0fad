import { beforeAll, expect, test } from '@jest/globals';
import type { Program } from '@paddock/processes/start-program';
import { setSwitch } from '@paddock/db/switches';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { type HowToStart, kill, useSystem } from './start-system.ts';

/**
 * The reconciler reads the log by itself once a day: only a request of ingress can bring a delivery
 * back.
 */
const BY_ITSELF = {
  settings: { PADDOCK_LOG_LEVEL: 'info' },
  rules: { reconciler: { redeliveryEverySeconds: 86_400, redeliverySpacingMs: 300_000 } },
};

const INGRESS = { settings: { PADDOCK_LOG_LEVEL: 'info' } };

const system = useSystem();
beforeAll(async () => {
  for (const sweep of ['discover-jobs', 'look-up-jobs'])
    await setSwitch(system.database.db, sweep, 'test');
  await system.start('reconciler', BY_ITSELF);
  await waitFor('the first listing', async () => (await listings()) > 0);
});

const queueJobs = async (count: number) => {
  await system.queueJobs(count);
  await system.github.settled();
};

const listings = async () =>
  (await system.github.report()).calls['apps/list-webhook-deliveries'] ?? 0;

/** Deliveries that GitHub has sent and that no row has. */
async function unstored(): Promise<string[]> {
  const sent = (await system.github.truth()).deliveries.map(({ guid }) => guid);
  const events = system.database.db.selectFrom('installation_events').select('delivery_guid');
  const rows = await events.where('source', '=', 'webhook').execute();
  return [...new Set(sent).difference(new Set(rows.map((row) => row.delivery_guid)))];
}

const untilAllStored = () =>
  waitFor('a row of each delivery', async () => (await unstored()).length === 0);

/**
 * Whether a look is wanted, whether one is under way, and until when looks are wanted; each start of
 * an ingress moves that, some time after its first delivery is stored.
 */
async function readLooks() {
  const { rows } = await sql<{ isWanted: boolean; isUnderWay: boolean; until: string | null }>`
    select exists (select from schedules where extra_at is not null) as "isWanted",
      exists (select from tasks where kind = 'redeliver') as "isUnderWay",
      (select max(extra_until)::text from schedules) as until`.execute(system.database.db);
  return rows[0] ?? { isWanted: false, isUnderWay: false, until: null };
}
const isLookWanted = async () => (await readLooks()).isWanted;

/**
 * Starts ingress, has it store its first delivery, and waits until it has asked for the look that
 * this is worth.
 */
async function startStoring(how: HowToStart = {}): Promise<Program> {
  const { until } = await readLooks();
  const ingress = await system.start('ingress', { ...INGRESS, ...how });
  await queueJobs(1);
  await untilAllStored();
  await waitFor(
    'the look that its start is worth',
    async () => (await readLooks()).until !== until,
  );
  return ingress;
}

const untilLooksAreOver = () =>
  waitFor('the end of the extra looks', async () => {
    const { isWanted, isUnderWay } = await readLooks();
    return !isWanted && !isUnderWay;
  });

test('deliveries that failed while ingress was away have rows although the reconciler was killed before it looked (E1)', async () => {
  const ingress = await startStoring();
  await untilLooksAreOver();
  await kill(system.running.get('reconciler'));
  await kill(ingress);
  await queueJobs(5);
  await system.start('ingress', INGRESS);
  await queueJobs(1);
  await waitFor('the request for a look', isLookWanted);
  expect(await unstored()).toHaveLength(5);
  await system.start('reconciler', BY_ITSELF);
  await untilAllStored();
});

test('deliveries that are all stored cost no look at the log beside the cycles (E1, P4)', async () => {
  // Patient: else a refusal on a busy machine would cause a look.
  await startStoring({ rules: { ingress: { writeTimeoutMs: 9_000, answerTimeoutMs: 9_000 } } });
  await untilLooksAreOver();
  const before = await listings();
  await queueJobs(30);
  await untilAllStored();
  expect(await isLookWanted()).toBe(false);
  expect(await listings()).toBe(before);
});
