import { describe, expect, test } from '@jest/globals';
import { connectDatabase } from '@paddock/db/connection/connect';
import { storeDeliveries } from '@paddock/db/deliveries/store-deliveries';
import { ofJob } from '@paddock/testing/deliveries-to-record';
import type { Db } from '@paddock/db/schema/tables';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { putPools } from '@paddock/testing/demand-rows';
import { startTunnel } from '@paddock/testing/tunnel';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { createRequire } from 'node:module';
import { createPools } from './pools.ts';
import { configOf, signed, useIngress } from './scenes/ingress.scene.ts';

interface Example {
  readonly action?: string;
}
const require = createRequire(import.meta.url);
const published = require('@octokit/webhooks-examples') as readonly {
  readonly name: string;
  readonly examples: readonly Example[];
}[];

// Pools, entities and repositories so that the examples meet each rule.
const CONFIG = configOf({
  pools: [
    { name: 'gpu', labels: ['self-hosted', 'gpu', 'db-app', 'dc-03'] },
    { name: 'hosted', labels: ['ubuntu-latest'] },
    { name: 'k8s', labels: ['self-hosted', 'k8s'], publicRepositories: true },
  ],
  entities: { 'octo-org': {}, Octocoders: {}, lineville: {} },
});

const all = (count: number, outcome: Outcome) => Array.from({ length: count }, () => outcome);

/**
 * The outcomes of the examples of an event, in their order. Examples of all other events are only
 * recorded.
 */
const OUTCOMES: Readonly<Record<string, readonly Outcome[]>> = {
  workflow_job: [
    'job_stored',
    'ignored_public_repository',
    'ignored_public_repository',
    'ignored_public_repository',
    'ignored_entity',
    'ignored_public_repository',
    'job_stored',
    'job_waiting',
  ],
  installation: all(7, 'ok'),
  installation_repositories: all(3, 'ok'),
  ping: all(4, 'ok'),
};
const REDUCED: ReadonlySet<string> = new Set(['ignored_public_repository', 'ignored_entity']);

describe('the published examples of GitHub’s events', () => {
  const { database, ingress } = useIngress({ config: CONFIG });

  test.each(published)(
    '$name: each is accepted, its row says what came of it and holds the whole payload (A4, B3)',
    async ({ name, examples }) => {
      const expected = OUTCOMES[name] ?? all(examples.length, 'ignored_event');
      for (const [index, example] of examples.entries()) {
        const guid = `${name}-${index}`;
        // Some are published twice, and the same body again would be a repetition.
        const payload = { ...example, published_as: guid };
        const answer = await ingress.deliver(await signed(name, payload, { guid }));
        expect({ guid, ...answer }).toMatchObject({ guid, status: 200, text: expected[index] });
        const row = await database.db
          .selectFrom('installation_events')
          .selectAll()
          .where('delivery_guid', '=', guid)
          .executeTakeFirstOrThrow();
        expect(row).toMatchObject({
          source: 'webhook',
          event: payload.action === undefined ? name : `${name}.${payload.action}`,
          outcome: expected[index],
          app_id: 7,
          payload_repaired: false,
        });
        const reduced = expect.objectContaining({
          action: payload.action,
          reduced_from: expect.objectContaining({ bytes: JSON.stringify(payload).length }),
        });
        expect(row.payload).toEqual(REDUCED.has(row.outcome) ? reduced : payload);
      }
      expect(expected).toHaveLength(examples.length);
    },
  );
});

const followed = (db: Db) =>
  createPools({ db, refreshMs: 1_000, onChange: () => undefined, onError: () => undefined });

const empty = useTestDatabase();

/** Stores a job's delivery, and says whether a look-up is wanted beside its ticks. */
async function isLookUpWanted(
  action: 'queued' | 'in_progress' | 'completed',
  jobId: number,
  job: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const own = empty.dbOf('ingress');
  const pools = followed(own);
  await pools.once();
  await empty.db.updateTable('schedules').set({ extra_at: null, extra_until: null }).execute();
  const created_at = new Date().toISOString();
  const said = { runner_name: null, runner_id: null, created_at, ...job };
  const delivery = ofJob(action, jobId, { labels: ['linux'], job: said });
  await storeDeliveries(own, [delivery], pools.inForce(), () => undefined);
  const schedules = await empty.db.selectFrom('schedules').select('extra_at').execute();
  return schedules.some(({ extra_at: extraAt }) => extraAt !== null);
}

const hoursAgo = (hours: number) => ({
  created_at: new Date(Date.now() - hours * 3_600_000).toISOString(),
});

test('a job is looked up at once whose approval came after more than a day, or whose runner GitHub has not named, and no other', async () => {
  await putPools(empty.db);
  await empty.db
    .insertInto('schedules')
    .values({ name: 'look-up-jobs', last_tick_at: new Date() })
    .execute();
  expect(await isLookUpWanted('queued', 1, hoursAgo(23))).toBe(false);
  expect(await isLookUpWanted('queued', 2, hoursAgo(25))).toBe(true);
  expect(await isLookUpWanted('in_progress', 1, {})).toBe(true);
  expect(await isLookUpWanted('in_progress', 1, {})).toBe(false);
  expect(await isLookUpWanted('in_progress', 3, { runner_name: '' })).toBe(true);
  expect(await isLookUpWanted('in_progress', 4, { runner_name: 'named' })).toBe(false);
  // It was cancelled while it waited.
  expect(await isLookUpWanted('completed', 5, {})).toBe(false);
});

test('the pools that ingress judges by stay while PostgreSQL is away, and follow when it is back (B4, B5)', async () => {
  const load = (label: string) => putPools(empty.db, { pools: [{ labels: [label] }] });
  const tunnel = await startTunnel(empty.urlOf('ingress'));
  const { db, close } = connectDatabase({
    url: tunnel.url,
    schema: empty.schema,
    poolSize: 1,
    applicationName: 'pools',
  });
  const pools = followed(db);
  const labels = () => pools.current()?.document.pools.map((pool) => pool.labels.join());
  await load('linux');
  await pools.once();
  await tunnel.cut();
  await load('windows');
  await expect(pools.once()).rejects.toMatchObject({ message: expect.any(String) });
  expect(labels()).toEqual(['linux']);
  await tunnel.mend();
  await pools.once();
  expect(labels()).toEqual(['windows']);
  await close();
  await tunnel.cut();
});
