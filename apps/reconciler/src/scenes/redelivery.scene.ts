import { createWaits } from '@paddock/db/entities/waits';
import type { Database } from '@paddock/db/schema/tables';
import { connectSmallWorld } from '@paddock/github/scenes/connect-small-world.scene';
import { type Receiver, startReceiver } from '@paddock/simulators/github/start-receiver';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import type { TestDatabase } from '@paddock/testing/database';
import { emptyTables } from '@paddock/testing/empty-tables';
import { type Kysely, sql } from 'kysely';
import { type Given, githubIsAway, passOf } from './pass.scene.ts';
import { type DeliveryLog, deliveryLogAtGitHub } from '../redelivery/read-delivery-log.ts';
import { redeliver, type RedeliverCounts, type RedeliverOptions } from '../redelivery/redeliver.ts';

type DeliveryFaults = Parameters<SmallWorld['github']['setDeliveryFaults']>[0];

/** A simulated GitHub that delivers to a receiver, and redelivery cycles of its App; for tests. */
export interface RedeliveryScene {
  readonly db: Kysely<Database>;
  readonly world: SmallWorld;
  readonly receiver: Receiver;
  /** Ids of the deliveries that were asked for, in order. */
  readonly asked: string[];
  /** Kinds of the failures of requests, and of listings. */
  readonly refused: string[];
  readonly listingFailures: string[];
  /** Deliveries that GitHub calls successful and that were told to be missing here. */
  readonly unstored: string[];
  /** The App's log, for passes of another kind. */
  readonly log: DeliveryLog;
  /** Runs one cycle and waits until GitHub has sent the requested deliveries. */
  cycle(more?: Given<RedeliverOptions>): Promise<RedeliverCounts>;
  /** Queues jobs whose `queued` deliveries get lost, as far as the faults say. */
  queueJobs(count: number, faults?: DeliveryFaults): Promise<void>;
  /**
   * Queues jobs whose deliveries the log calls successful, without sending them: for the log's
   * length, at no cost.
   */
  lengthenLog(count: number): Promise<void>;
  /** Writes the event row that ingress writes for a delivery. */
  storeEvent(guid: string, outcome?: 'job_stored' | 'repeated_body'): Promise<void>;
  /** Moves the clocks of GitHub and of our database by `minutes`. */
  pass(minutes: number): Promise<void>;
  /** As if the last requests had just been made: the minute that they are counted in goes on. */
  holdMinute(): Promise<void>;
  /** As if the last requests were an hour old and the next ones due. */
  passAnHour(): Promise<void>;
  unresolved(): Promise<
    {
      guid: string;
      requests: number;
      nextRequestAt: Date;
      lastRequestedAt: Date | null;
      lastStatusCode: number;
    }[]
  >;
  stop(): Promise<void>;
}

const APP_REQUEST_TIMEOUT_MS = 60_000;
/**
 * GitHub gives a delivery 10 s. In a stalled process, one of hundreds may need longer, and then
 * counts as lost.
 */
const FAR_BEYOND_ANY_TEST_MS = 300_000;

export interface RedeliverySceneOptions {
  /** How far GitHub's clock is ahead of ours; `pass` moves both on. */
  skewMs?: number;
  deliveryTimeoutMs?: number;
  /** No delivery that arrives is kept, as if the database had lost it since. */
  losesRows?: boolean;
}

/** Writes the events that ingress writes for deliveries of jobs. */
export async function storeEvents(
  db: Kysely<Database>,
  guids: readonly string[],
  outcome: 'job_stored' | 'repeated_body' = 'job_stored',
): Promise<void> {
  if (guids.length === 0) return;
  const event = {
    source: 'webhook',
    event: 'workflow_job.queued',
    outcome,
    payload: '{}',
  } as const;
  await db
    .insertInto('installation_events')
    .values(guids.map((guid) => ({ ...event, delivery_guid: guid })))
    .execute();
}

/** At any time, the next look at the log is another one of the same cadence. */
const keepCadence = (db: Kysely<Database>) =>
  sql`update apps set log_read_at = now() + interval '10 minutes'`.execute(db);

/** The newest instant up to which the log was read, and whether a reading broke off. */
export const logMark = async (db: Kysely<Database>) => {
  const [mark] = await db
    .selectFrom('apps')
    .select(['log_read_to as readTo', 'log_cursor as cursor'])
    .execute();
  return mark;
};

/** As if nothing had been read for two hours; the rows of what was read stay. */
export const forgetTwoHours = (db: Kysely<Database>) =>
  sql`update apps set log_read_to = log_read_to - interval '2 hours'`.execute(db);

/** In a test's own database; deliveries of an earlier scene are removed. */
export async function startRedeliveryScene(
  database: TestDatabase,
  given: RedeliverySceneOptions = {},
): Promise<RedeliveryScene> {
  const { db } = database;
  // The cycles have the reconciler's rights; the test's own statements may do anything.
  const own = database.dbOf('reconciler');
  const { skewMs = 0, deliveryTimeoutMs = FAR_BEYOND_ANY_TEST_MS, losesRows = false } = given;
  let passedMs = 0;
  const now = () => Date.now() + passedMs;
  await emptyTables(db, [
    'unresolved_deliveries',
    'apps',
    'demand_keys',
    'installation_events',
    'repositories',
    'installations',
  ]);
  const receiver = await startReceiver();
  const world = await startSmallWorld({
    webhookUrl: receiver.url,
    now: () => now() + skewMs,
    deliveryTimeoutMs,
  });
  const asked: string[] = [];
  const refused: string[] = [];
  const listingFailures: string[] = [];
  const unstored: string[] = [];
  const signal = new AbortController().signal;
  const { appId } = world;
  const github = connectSmallWorld(world, {
    waits: createWaits(own, () => undefined),
    requestTimeoutMs: APP_REQUEST_TIMEOUT_MS,
    now,
  });
  const real = deliveryLogAtGitHub(github, appId, signal);
  const log: DeliveryLog = {
    list: real.list,
    redeliver: async (id) => {
      asked.push(id);
      await real.redeliver(id);
    },
  };
  const options: RedeliverOptions = {
    db: own,
    appId,
    log,
    events: {
      redelivered: () => undefined,
      redeliveryRefused: (_appId, _guid, { kind }) => void refused.push(kind),
      listingFailed: (_appId, { kind }) => void listingFailures.push(kind),
      redeliveriesGivenUp: () => undefined,
      deliveredWithoutRow: (_appId, guids) => void unstored.push(...guids),
    },
    everySeconds: 300,
    windowMs: 900_000,
    maxPages: 100,
    perMinute: 150,
    firstStepMs: 300_000,
    giveUpMs: 3 * 86_400_000,
    handOverAbove: 500,
  };
  /** As ingress does: a delivery is stored before GitHub has its answer. */
  const storeArrived = async () => {
    const arrived = (await world.github.truth()).deliveries.filter(
      ({ statusCode }) => statusCode >= 200 && statusCode < 300,
    );
    const rows = await db.selectFrom('installation_events').select('delivery_guid').execute();
    const stored = new Set(rows.map(({ delivery_guid: guid }) => guid));
    await storeEvents(
      db,
      [...new Set(arrived.map(({ guid }) => guid))].filter((guid) => !stored.has(guid)),
    );
  };
  const queueJobs: RedeliveryScene['queueJobs'] = async (count, faults = { lossRate: 1 }) => {
    await world.github.setDeliveryFaults(faults);
    for (let index = 0; index < count; index++)
      await world.github.queueJob({ repo: 'acme/api', labels: ['ubuntu'] });
    await world.github.settled();
    await world.github.setDeliveryFaults({});
  };
  return {
    db,
    world,
    receiver,
    log,
    asked,
    refused,
    listingFailures,
    unstored,
    async cycle({ pass = {}, ...more } = {}) {
      if (!losesRows) await storeArrived();
      const counts = await redeliver(
        { ...options, ...more },
        await passOf(own, { isAway: githubIsAway(github), ...pass }),
      );
      await keepCadence(db);
      await world.github.settled();
      return counts;
    },
    queueJobs,
    lengthenLog: (count) => queueJobs(count, { lossRate: 1, lossStatusCode: 202 }),
    storeEvent: (guid, outcome) => storeEvents(db, [guid], outcome),
    async pass(minutes) {
      passedMs += minutes * 60_000;
      // The log's instants are GitHub's, whose clock has moved; ours are the database's, which
      // cannot.
      await sql`update unresolved_deliveries set next_request_at = next_request_at - ${minutes} * interval '1 minute',
        last_requested_at = last_requested_at - ${minutes} * interval '1 minute'`.execute(db);
      await sql`update apps set wait_until = wait_until - ${minutes} * interval '1 minute'`.execute(
        db,
      );
    },
    async holdMinute() {
      await sql`update unresolved_deliveries set last_requested_at = now() where last_requested_at is not null`.execute(
        db,
      );
    },
    async passAnHour() {
      await sql`update unresolved_deliveries set next_request_at = now(), last_requested_at = now() - interval '1 hour'`.execute(
        db,
      );
    },
    async unresolved() {
      return db
        .selectFrom('unresolved_deliveries')
        .select([
          'guid',
          'requests',
          'next_request_at as nextRequestAt',
          'last_requested_at as lastRequestedAt',
          'last_status_code as lastStatusCode',
        ])
        .where('resolved_at', 'is', null)
        .orderBy('guid')
        .execute();
    },
    async stop() {
      await world.github.stop();
      await receiver.stop();
    },
  };
}
