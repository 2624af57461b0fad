import { useTestDatabase } from '@paddock/testing/use-test-database';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  type RedeliveryScene,
  type RedeliverySceneOptions,
  startRedeliveryScene,
} from '../scenes/redelivery.scene.ts';

const database = useTestDatabase();
let scene: RedeliveryScene;

const start = async (options?: RedeliverySceneOptions) => {
  scene = await startRedeliveryScene(database, options);
};
afterEach(() => scene.stop());

/** GUIDs that our endpoint has accepted, by GitHub's log. */
const accepted = async () =>
  new Set(
    (await scene.world.github.truth()).deliveries
      .filter(({ statusCode }) => statusCode === 202)
      .map(({ guid }) => guid),
  );

/**
 * Two hours in which our endpoint answers so, with some jobs every five minutes. Returns the most
 * pages that a cycle read.
 */
async function twoHours(
  answer: number,
  jobs: number,
  cycle?: RedeliveryScene['cycle'],
): Promise<number> {
  scene.receiver.answerWith(answer);
  let pages = 0;
  for (let step = 0; step < 24; step++) {
    await scene.queueJobs(jobs, {});
    await scene.pass(5);
    if (cycle !== undefined) pages = Math.max(pages, (await cycle()).pages);
  }
  scene.receiver.answerWith(202);
  return pages;
}

describe('after an outage (E1)', () => {
  test.each([
    ['ingress down for two hours with the reconciler running', 503, { jobs: 10, perMinute: 150 }],
    // The same with another answer: half of it shows as much.
    ['wrong secret for a while: every delivery answered 401', 401, { jobs: 5, perMinute: 75 }],
  ])(
    '%s: two cycles and the requests of a minute, with as many pages as before',
    async (_name, answer, { jobs, perMinute }) => {
      await start();
      const cycle = () => scene.cycle({ perMinute });
      await cycle();
      const pagesBefore = await twoHours(answer, jobs, cycle);
      expect(await accepted()).toEqual(new Set());
      for (let nth = 0; nth < 2; nth++) {
        await scene.pass(5);
        const counts = await cycle();
        // The window's edge falls now on this, now on that side of a page's.
        expect(counts.pages).toBeLessThanOrEqual(pagesBefore + 1);
      }
      // The second cycle could ask for no more than a minute's worth.
      await scene.pass(1);
      expect((await cycle()).moreDue).toBe(false);
      expect((await accepted()).size).toBe(24 * jobs);
      // A net: on a busy machine some thousand calls take minutes.
    },
    900_000,
  );

  test('Paddock down for two hours: one listing down to the last one, and no delivery is missing', async () => {
    await start();
    await scene.queueJobs(1, {});
    await scene.cycle();
    await twoHours(503, 10);
    expect(await scene.cycle()).toMatchObject({
      pages: 3,
      failed: 240,
      accepted: 150,
      moreDue: true,
    });
    await scene.holdMinute();
    // Within the same minute: requests beyond its limit still have the next one.
    expect(await scene.cycle()).toMatchObject({ accepted: 0, moreDue: true });
    await scene.pass(1);
    expect(await scene.cycle()).toMatchObject({ accepted: 90, moreDue: false });
    expect((await accepted()).size).toBe(241);
  });

  test('list empty by mistake: no failure is forgotten, and the next cycle finds all', async () => {
    await start();
    await scene.queueJobs(1, {});
    await scene.cycle();
    await scene.queueJobs(3);
    // Enough that the lost deliveries are a page below everything that the empty list could cover.
    await scene.lengthenLog(100);
    await scene.pass(1);
    await scene.world.github.failNext({
      method: 'GET',
      path: '/app/hook/deliveries$',
      status: 200,
      body: [],
    });
    expect(await scene.cycle()).toMatchObject({ attempts: 0, failed: 0 });
    await scene.pass(120);
    await scene.lengthenLog(100);
    expect(await scene.cycle()).toMatchObject({ pages: 3, failed: 3, accepted: 3 });
  });

  test('committed though GitHub timed out: not asked for again', async () => {
    await start({ deliveryTimeoutMs: 20 });
    scene.receiver.answerWith('hang');
    await scene.queueJobs(1, {});
    const [delivery] = (await scene.world.github.truth()).deliveries;
    expect(delivery?.statusCode).toBe(504);
    await scene.storeEvent(delivery?.guid ?? '');
    expect(await scene.cycle()).toMatchObject({ failed: 0, accepted: 0 });
  });

  test('throttled_at: an attempt that GitHub held back is a failed one, and the cycle counts it', async () => {
    await start();
    await scene.queueJobs(1);
    const [delivery] = (await scene.world.github.truth()).deliveries;
    const entry = {
      ...delivery,
      delivered_at: new Date().toISOString(),
      throttled_at: new Date().toISOString(),
      status: '',
      status_code: 0,
    };
    await scene.world.github.failNext({
      method: 'GET',
      path: '/app/hook/deliveries$',
      status: 200,
      body: [entry],
    });
    expect(await scene.cycle()).toMatchObject({ throttled: 1, failed: 1, accepted: 1 });
    expect(scene.receiver.received).toHaveLength(1);
  });

  test('attempts of one GUID over page borders are judged together', async () => {
    await start();
    await scene.queueJobs(1);
    await scene.lengthenLog(99);
    expect(await scene.cycle()).toMatchObject({ accepted: 1, pages: 1 });
    await scene.db.deleteFrom('unresolved_deliveries').execute();
    // The success is the newest of the first page, the failure alone on the second.
    expect(await scene.cycle()).toMatchObject({ pages: 2, attempts: 101, failed: 0, accepted: 0 });
  });

  test.each([-3_600_000, 3_600_000])(
    'clocks differ by %d ms: pages are read as far as they must be, and no further',
    async (skewMs) => {
      await start({ skewMs });
      await scene.cycle();
      await scene.queueJobs(1, {});
      await scene.cycle();
      await scene.queueJobs(130);
      await scene.pass(5);
      expect(await scene.cycle()).toMatchObject({
        listed: true,
        pages: 2,
        failed: 130,
        accepted: 130,
      });
      await scene.pass(30);
      expect(await scene.cycle()).toMatchObject({ listed: true, failed: 0, resolved: 130 });
    },
  );
});

describe('the cost of redelivery (E1, P4)', () => {
  test('calls grow with failures and pages, not with repositories: the same with 1 and with 1 000', async () => {
    const callsWith = async (repositories: number) => {
      await start();
      const names = ['acme/api'];
      for (let index = 1; index < repositories; index++) {
        names.push(
          (await scene.world.github.addRepository({ owner: 'acme', name: `repository-${index}` }))
            .name,
        );
      }
      await scene.world.github.setDeliveryFaults({ lossRate: 1 });
      for (let index = 0; index < 120; index++) {
        const name = names[(index * 7) % names.length] ?? '';
        await scene.world.github.queueJob({
          repo: name.includes('/') ? name : `acme/${name}`,
          labels: ['ubuntu'],
        });
      }
      await scene.world.github.setDeliveryFaults({});
      await scene.cycle();
      const { calls } = await scene.world.github.report();
      return calls;
    };
    const one = await callsWith(1);
    await scene.stop();
    const many = await callsWith(1000);
    expect(one).toEqual({
      'apps/list-webhook-deliveries': 2,
      'apps/redeliver-webhook-delivery': 120,
    });
    expect(many).toEqual(one);
  });
});
