import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Program } from '@paddock/processes/start-program';
import { setSwitch } from '@paddock/db/switches';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { type HowToStart, isReady, kill, startSystem, type TestSystem } from './start-system.ts';

/**
 * The reconciler reads the log by itself once a day: only a request of ingress can bring a delivery
 * back.
 */
const BY_ITSELF = {
  settings: { PADDOCK_LOG_LEVEL: 'info' },
  rules: { reconciler: { redeliveryEverySeconds: 86_400, redeliverySpacingMs: 300_000 } },
};

let system: TestSystem;
let reconciler: Program;

beforeAll(async () => {
  system = await startSystem();
  for (const sweep of ['discover-jobs', 'look-up-jobs'])
    await setSwitch(system.database.db, sweep, 'test');
  reconciler = await system.start('reconciler', BY_ITSELF);
  await waitFor('the first listing', async () => (await listings()) > 0);
});
afterAll(() => system.stop());

async function queueJobs(count: number): Promise<void> {
  await system.queueJobs(count);
  await system.github.settled();
}

const listings = async () =>
  (await system.github.report()).calls['apps/list-webhook-deliveries'] ?? 0;

/** Deliveries that GitHub has sent and that no row has. */
async function unstored(): Promise<string[]> {
  const sent = (await system.github.truth()).deliveries.map(({ guid }) => guid);
  const rows = await system.database.db
    .selectFrom('installation_events')
    .select('delivery_guid')
    .where('source', '=', 'webhook')
    .execute();
  const stored = new Set(rows.map(({ delivery_guid: guid }) => guid));
  return [...new Set(sent)].filter((guid) => !stored.has(guid));
}

const untilAllStored = () =>
  waitFor('a row of each delivery', async () => (await unstored()).length === 0);

async function startIngress(how: HowToStart = {}): Promise<Program> {
  const ingress = await system.start('ingress', {
    ...how,
    settings: { PADDOCK_LOG_LEVEL: 'info', ...how.settings },
  });
  await waitFor('readiness', () => isReady(ingress));
  return ingress;
}

const isLookWanted = async () =>
  (
    await system.database.db
      .selectFrom('schedules')
      .select('name')
      .where('extra_at', 'is not', null)
      .execute()
  ).length > 0;

const isLooking = async () =>
  (
    await system.database.db
      .selectFrom('tasks')
      .select('id')
      .where('kind', '=', 'redeliver')
      .execute()
  ).length > 0;

/**
 * Until when looks are wanted; each start of an ingress moves it, some time after its first
 * delivery is stored.
 */
const wantedUntil = async () => {
  const { rows } = await sql<{
    at: string | null;
  }>`select max(extra_until)::text as at from schedules`.execute(system.database.db);
  return rows[0]?.at;
};

/**
 * Starts ingress, has it store its first delivery, and waits until it has asked for the look that
 * this is worth.
 */
async function startStoring(how: HowToStart = {}): Promise<Program> {
  const before = await wantedUntil();
  const ingress = await startIngress(how);
  await queueJobs(1);
  await untilAllStored();
  await waitFor('the look that its start is worth', async () => (await wantedUntil()) !== before);
  return ingress;
}

const untilLooksAreOver = () =>
  waitFor(
    'the end of the extra looks',
    async () => !(await isLookWanted()) && !(await isLooking()),
  );

test('deliveries that failed while ingress was away have rows although the reconciler was killed before it looked (E1)', async () => {
  const ingress = await startStoring();
  await untilLooksAreOver();
  await kill(reconciler);
  await kill(ingress);
  await queueJobs(5);
  await startIngress();
  await queueJobs(1);
  await waitFor('the request for a look', isLookWanted);
  expect(await unstored()).toHaveLength(5);
  reconciler = await system.start('reconciler', BY_ITSELF);
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
