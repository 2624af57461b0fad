import type { Database } from '@paddock/db/tables';
import { connectGitHub } from '@paddock/github/connect';
import { type Receiver, startReceiver } from '@paddock/simulators/github/start-receiver';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/github/start-small-world';
import { type Kysely, sql } from 'kysely';
import { deliveryLogAtGitHub } from './delivery-log-at-github.ts';
import { type DeliveryLog, redeliver, type RedeliverCounts, type RedeliverOptions } from './redeliver.ts';

type DeliveryFaults = Parameters<SmallWorld['github']['setDeliveryFaults']>[0];

/** A simulated GitHub that delivers to a receiver, and redelivery cycles of its App; for tests. */
export interface RedeliveryScene {
  readonly db: Kysely<Database>;
  readonly world: SmallWorld;
  readonly receiver: Receiver;
  /** Ids of the deliveries that were asked for, in order. */
  readonly asked: number[];
  /** Kinds of the failures of requests, and of listings. */
  readonly refused: string[];
  readonly listingFailures: string[];
  /** Deliveries that GitHub calls successful and that were told to be missing here. */
  readonly unstored: string[];
  /** Runs one cycle and waits until GitHub has sent what it was asked for. */
  cycle(more?: Partial<RedeliverOptions>): Promise<RedeliverCounts>;
  /** Queues jobs whose `queued` deliveries get lost, as far as the faults say. */
  queueJobs(count: number, faults?: DeliveryFaults): Promise<void>;
  /** Writes the event row that ingress writes for a delivery. */
  storeEvent(guid: string): Promise<void>;
  /** As if the last requests were an hour old and the next ones due. */
  passAnHour(): Promise<void>;
  unresolved(): Promise<{ guid: string; requests: number; nextRequestAt: Date; lastRequestedAt: Date | null; lastStatusCode: number }[]>;
  stop(): Promise<void>;
}

const APP_REQUEST_TIMEOUT_MS = 5_000;

/** `db` is a test's own database; what an earlier scene left there of deliveries is removed. */
export async function startRedeliveryScene(db: Kysely<Database>): Promise<RedeliveryScene> {
  for (const table of ['delivery_listings', 'unresolved_deliveries', 'installation_events'] as const) await db.deleteFrom(table).execute();
  const receiver = await startReceiver();
  const world = await startSmallWorld({ webhookUrl: receiver.url });
  const asked: number[] = [];
  const refused: string[] = [];
  const listingFailures: string[] = [];
  const unstored: string[] = [];
  const signal = new AbortController().signal;
  const { appId, privateKeyPem: privateKey } = world;
  const github = connectGitHub({ apiUrl: world.github.url, apps: [{ appId, privateKey }], requestTimeoutMs: APP_REQUEST_TIMEOUT_MS });
  const real = deliveryLogAtGitHub(github, appId, signal);
  const log: DeliveryLog = {
    list: real.list,
    redeliver: async (id) => {
      asked.push(id);
      await real.redeliver(id);
    },
  };
  const options: RedeliverOptions = {
    db,
    appId,
    log,
    events: {
      redelivered: () => undefined,
      redeliveryRefused: (_appId, _guid, { kind }) => void refused.push(kind),
      listingFailed: (_appId, { kind }) => void listingFailures.push(kind),
      redeliveriesGivenUp: () => undefined,
      deliveredWithoutRow: (_appId, guids) => void unstored.push(...guids),
      oldestUnresolved: () => undefined,
    },
    everySeconds: 300,
    windowMs: 900_000,
    maxPages: 100,
    perMinute: 150,
    firstStepMs: 300_000,
    giveUpMs: 3 * 86_400_000,
    dryRun: false,
  };
  return {
    db,
    world,
    receiver,
    asked,
    refused,
    listingFailures,
    unstored,
    async cycle(more = {}) {
      const counts = await redeliver({ ...options, ...more }, signal);
      await world.github.settled();
      return counts;
    },
    async queueJobs(count, faults = { lossRate: 1 }) {
      await world.github.setDeliveryFaults(faults);
      for (let index = 0; index < count; index++) await world.github.queueJob({ repo: 'acme/api', labels: ['ubuntu'] });
      await world.github.settled();
      await world.github.setDeliveryFaults({});
    },
    async storeEvent(guid) {
      await db
        .insertInto('installation_events')
        .values({ source: 'webhook', event: 'workflow_job.queued', outcome: 'job_stored', delivery_guid: guid, payload: '{}' })
        .execute();
    },
    async passAnHour() {
      await sql`update unresolved_deliveries set next_request_at = now(), last_requested_at = now() - interval '1 hour'`.execute(db);
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
