import { beforeEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { useRedeliveryScene } from '../scenes/use-scenes.scene.ts';
import { redeliverDelivery, type RedeliverDeliveryOptions } from './redeliver-delivery.ts';

const database = useTestDatabase();
const scene = useRedeliveryScene(database, { losesRows: true });

let guid = '';
beforeEach(async () => {
  await scene.queueJobs(1, {});
  guid = (await scene.world.github.truth()).deliveries[0]?.guid ?? '';
});

const redeliver = (one = guid, more: Partial<RedeliverDeliveryOptions> = {}) =>
  redeliverDelivery(
    {
      db: database.dbOf('reconciler'),
      appIds: [scene.world.appId],
      logOf: () => scene.log,
      maxPages: 100,
      firstStepMs: 300_000,
      ...more,
    },
    one,
  );
const requested = { outcome: 'done', output: { appId: expect.any(Number) } };

describe('one delivery (F5)', () => {
  test('is requested by its newest attempt in the log, also where GitHub calls it delivered', async () => {
    expect(await redeliver()).toMatchObject(requested);
    expect(await redeliver()).toMatchObject(requested);
    expect(scene.asked).toHaveLength(2);
    expect(new Set(scene.asked).size).toBe(2);
  });

  test('that is unresolved needs no list, and its next request is put off', async () => {
    await scene.queueJobs(1);
    await scene.cycle();
    const [unresolved] = await scene.unresolved();
    expect(unresolved).toBeDefined();
    await redeliver(unresolved?.guid, {
      logOf: () => ({
        ...scene.log,
        list: () => Promise.reject(new Error('no list is needed')),
      }),
    });
    const [after] = await scene.unresolved();
    expect(after?.requests).toBe((unresolved?.requests ?? 0) + 1);
  });

  test.each([
    ['the list', 'GET', '/app/hook/deliveries$'],
    ['the request', 'POST', '/attempts$'],
  ])('is tried again after %s has failed (D14)', async (_what, method, path) => {
    await scene.world.github.failNext({ method, path, status: 502 });
    await expect(redeliver()).rejects.toMatchObject({ status: 502 });
    expect(await redeliver()).toMatchObject(requested);
  });

  test('fails for good where GitHub refuses it, or has it no more', async () => {
    await scene.world.github.failNext({ method: 'POST', path: '/attempts$', status: 422 });
    expect(await redeliver()).toMatchObject({
      outcome: 'poison',
      reason: expect.stringContaining('GitHub does not repeat the delivery'),
    });
    expect(await redeliver('00000000-0000-4000-8000-000000000000')).toMatchObject({
      outcome: 'poison',
      reason: expect.stringContaining('three days'),
    });
  });
});
