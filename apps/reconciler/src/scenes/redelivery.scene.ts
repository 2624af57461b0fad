import type { Db } from '@paddock/db/schema/tables';
import type { GitHubFailure } from '@paddock/github/errors';
import { startReceiver } from '@paddock/simulators/github/start-receiver';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import type { TestDatabase } from '@paddock/testing/database';
import { emptyAll } from '@paddock/testing/use-test-database';
import { type RawBuilder, sql } from 'kysely';
import { redeliver } from '../redelivery/redeliver.ts';
import { type Given, outputOf, taskOf, useScene, usualSweeps } from './sweep.scene.ts';

type Fault = Parameters<SmallWorld['github']['failNext']>[0];

/** GitHub gives a delivery 10 s. In a stalled process, one of hundreds may need longer. */
const FAR_BEYOND_ANY_TEST_MS = 300_000;

export interface RedeliverySceneOptions {
  /** How far GitHub's clock is ahead of ours; `pass` moves both on. */
  skewMs?: number;
  /** No delivery that arrives is kept, as if the database had lost it since. */
  losesRows?: boolean;
}

/** Writes the events that ingress writes for deliveries of jobs. */
export async function storeEvents(
  db: Db,
  guids: readonly string[],
  outcome: 'job_stored' | 'repeated_body' = 'job_stored',
): Promise<void> {
  if (guids.length === 0) return;
  const event = { source: 'webhook', event: 'workflow_job.queued', payload: '{}' } as const;
  await db
    .insertInto('installation_events')
    .values(guids.map((guid) => ({ ...event, outcome, delivery_guid: guid })))
    .execute();
}

/** A simulated GitHub that delivers to a receiver, and redelivery cycles of its App. */
export async function startRedeliveryScene(
  database: TestDatabase,
  { skewMs = 0, losesRows = false }: RedeliverySceneOptions = {},
) {
  const { db } = database;
  let passedMs = 0;
  const now = () => Date.now() + passedMs;
  await emptyAll(db);
  const receiver = await startReceiver();
  const world = await startSmallWorld({
    webhookUrl: receiver.url,
    now: () => now() + skewMs,
    deliveryTimeoutMs: FAR_BEYOND_ANY_TEST_MS,
  });
  const { appId } = world;
  const asked: string[] = [];
  /** Notes the ids of the deliveries that are asked for. */
  const noting: typeof globalThis.fetch = (input, init) => {
    const [, id] = /deliveries\/(\d+)\/attempts$/.exec(new Request(input).url) ?? [];
    if (id !== undefined) asked.push(id);
    return globalThis.fetch(input, init);
  };
  const { run, told, github } = usualSweeps(database, world, { connect: { now, fetch: noting } });
  const kindsOf = (event: 'redeliveryRefused' | 'listingFailed') =>
    told(event).map((what) => (what.at(-1) as GitHubFailure).kind);
  const attempts = async () => (await world.github.truth()).deliveries;
  /** As ingress does: a delivery is stored before GitHub has its answer. */
  const storeArrived = async () => {
    const rows = await db.selectFrom('installation_events').select('delivery_guid').execute();
    const stored = new Set(rows.map(({ delivery_guid: guid }) => guid));
    const arrived = (await attempts()).filter(
      ({ guid, statusCode }) => statusCode >= 200 && statusCode < 300 && !stored.has(guid),
    );
    await storeEvents(db, [...new Set(arrived.map(({ guid }) => guid))]);
  };
  /** Queues jobs whose `queued` deliveries get lost, as far as the faults say. */
  const queueJobs = async (
    count: number,
    faults: Parameters<SmallWorld['github']['setDeliveryFaults']>[0] = { lossRate: 1 },
  ): Promise<void> => {
    await world.github.setDeliveryFaults(faults);
    for (let index = 0; index < count; index++)
      await world.github.queueJob({ repo: 'acme/api', labels: ['ubuntu'] });
    await world.github.settled();
    await world.github.setDeliveryFaults({});
  };
  let followed: number | undefined;
  const setUnresolved = (changes: RawBuilder<unknown>) =>
    sql`update unresolved_deliveries set ${changes}`.execute(db);
  return {
    db,
    world,
    github,
    receiver,
    /** Ids of the deliveries that were asked for, in order. */
    asked,
    /** Kinds of the failures of requests, and of listings. */
    refused: () => kindsOf('redeliveryRefused'),
    listingFailures: () => kindsOf('listingFailed'),
    /** Deliveries that GitHub calls successful and that were told to be missing here. */
    unstored: () => told('deliveredWithoutRow').flatMap(([, guids]) => guids),
    /** Deliveries of the log that could not be stored. */
    unusable: () => told('deliveryUnusable'),
    app: github.asApp(appId),
    /** The newest known state of a budget. */
    budgetOf: github.budgetOf,
    attempts,
    queueJobs,
    /**
     * Queues jobs whose deliveries the log calls successful, without sending them: for the log's
     * length, at no cost.
     */
    lengthenLog: (count: number) => queueJobs(count, { lossRate: 1, lossStatusCode: 202 }),
    failList: (fault: Omit<Fault, 'method' | 'path'>) =>
      world.github.failNext({ method: 'GET', path: '/app/hook/deliveries$', ...fault }),
    /** Runs one cycle and waits until GitHub has sent the requested deliveries. */
    async cycle({ since, ...given }: Given & { readonly since?: Date } = {}) {
      if (!losesRows) await storeArrived();
      const task = taskOf('app', String(appId), since ? { since: since.toISOString() } : {});
      const outcome = await run(redeliver, { pass: { task, atOnce: 8 }, ...given });
      followed = outcome.outcome === 'done' ? outcome.followOn?.length : undefined;
      // At any time, the next look at the log is another one of the same cadence.
      await sql`update apps set log_read_at = now() + interval '10 minutes'`.execute(db);
      await world.github.settled();
      return outputOf(outcome);
    },
    /** How many tasks the last cycle had follow. */
    followed: () => followed,
    /** Has one delivery repeated, as a person asks. */
    repeat: (guid: string, given: Given = {}) =>
      run(redeliver, { pass: { task: taskOf('delivery', guid, { guid }) }, ...given }),
    /** Writes the event row that ingress writes for a delivery. */
    storeEvent: (guid: string, outcome?: 'job_stored' | 'repeated_body') =>
      storeEvents(db, [guid], outcome),
    /** Moves the clocks of GitHub and of our database by `minutes`. */
    async pass(minutes: number) {
      passedMs += minutes * 60_000;
      // The log's instants are GitHub's, whose clock has moved; the database's clock cannot.
      const earlier = (at: string) =>
        sql`${sql.ref(at)} = ${sql.ref(at)} - ${minutes} * interval '1 minute'`;
      await setUnresolved(sql.join(['next_request_at', 'last_requested_at'].map(earlier)));
      await sql`update apps set ${earlier('wait_until')}`.execute(db);
    },
    setUnresolved,
    /** As if the last requests had just been made: the minute that they are counted in goes on. */
    holdMinute: () =>
      setUnresolved(sql`last_requested_at = now() + (last_requested_at - last_requested_at)`),
    /** As if the last requests had been made so long ago. */
    asIfAsked: (seconds: number) =>
      setUnresolved(sql`last_requested_at = now() - ${seconds} * interval '1 second'`),
    /** As if the last requests were an hour old and the next ones due. */
    passAnHour: () =>
      setUnresolved(sql`next_request_at = now(), last_requested_at = now() - interval '1 hour'`),
    unresolved() {
      const columns = ['guid', 'requests', 'next_request_at', 'last_requested_at'] as const;
      const rows = db.selectFrom('unresolved_deliveries').where('resolved_at', 'is', null);
      return rows.select(columns).orderBy('guid').execute();
    },
    /** How far the log was read, and whether a reading broke off. */
    logMark() {
      const mark = ['log_read_to as readTo', 'log_cursor as cursor'] as const;
      return db.selectFrom('apps').select(mark).executeTakeFirst();
    },
    /** Puts the first failure of a delivery, or of all, 73 hours back. */
    makeOld: (guid?: string) =>
      sql`update unresolved_deliveries set first_failed_at = now() - interval '73 hours'
        where guid = coalesce(${guid ?? null}, guid)`.execute(db),
    /** As if nothing had been read for two hours; the rows of what was read stay. */
    forgetTwoHours: () =>
      sql`update apps set log_read_to = log_read_to - interval '2 hours'`.execute(db),
    async stop() {
      await world.github.stop();
      await receiver.stop();
    },
  };
}

export type RedeliveryScene = Awaited<ReturnType<typeof startRedeliveryScene>>;

export const useRedeliveryScene = (
  database: TestDatabase,
  options?: RedeliverySceneOptions,
): RedeliveryScene => useScene(() => startRedeliveryScene(database, options));
