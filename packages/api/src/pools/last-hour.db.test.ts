import { beforeAll, describe, expect, test } from '@jest/globals';
import { putJob } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putWorker } from '@paddock/testing/worker-rows';
import { ask } from '../scenes/ask.scene.ts';
import { lastHourEndpoint } from './pools.ts';

const database = useTestDatabase();
/** Between two instants, so that it does not matter how long the test takes. */
const ago = (minutes: number) => new Date(Date.now() - (minutes - 0.5) * 60_000);
const hour = async (pool?: string) => ask(lastHourEndpoint, database.db, { pool });

beforeAll(async () => {
  const { db } = database;
  const a = { k8s_pool: 'a' };
  const ended = { ...a, status: 'completed' as const, wants_worker: false };
  // Waited from 30 to 20 minutes ago, at GitHub a minute longer.
  await putJob(db, {
    ...ended,
    created_at: ago(30),
    queued_at: ago(31),
    started_at: ago(20),
    completed_at: ago(5),
  });
  // Clocks differ: it started before it was stored, and before it was queued.
  await putJob(db, { ...ended, created_at: ago(10), queued_at: ago(9), started_at: ago(11) });
  // Never started.
  await putJob(db, { ...ended, created_at: ago(15), completed_at: ago(12) });
  await putJob(db, { ...a, created_at: ago(200), wants_worker: true });
  await putJob(db, {
    ...ended,
    created_at: ago(200),
    started_at: ago(199),
    completed_at: ago(100),
  });
  await putWorker(db, {
    ...a,
    pod_name: 'w-1',
    status: 'completed',
    created_at: ago(400),
    assigned_at: ago(40),
    completed_at: ago(5),
  });
  await putWorker(db, { ...a, pod_name: 'w-2', status: 'running', created_at: ago(10) });
  await putWorker(db, { k8s_pool: 'b', pod_name: 'w-3', created_at: ago(0.6) });
});

describe('the last hour', () => {
  test('follows from the instants of jobs and workers', async () => {
    const { items, stepMs, at } = await hour();
    expect([stepMs, items.map(({ pool }) => pool)]).toEqual([60_000, ['a', 'b']]);
    expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(60_000);
    const [a] = items;
    const before = (minutes: number) => {
      const n = 60 - minutes;
      return [a?.waiting[n], a?.workers[n], a?.busy[n]];
    };
    expect([60, 41, 35, 29, 25, 19, 13, 9, 6, 4, 0].map(before)).toEqual([
      [1, 1, 0],
      [1, 1, 0],
      [1, 1, 1],
      [2, 1, 1],
      [2, 1, 1],
      [1, 1, 1],
      [2, 1, 1],
      [1, 2, 1],
      [1, 2, 1],
      [1, 1, 0],
      [1, 1, 0],
    ]);
    const queued = a?.queuedP50Ms.map((ms, n) => ({ minutes: 60 - n, ms }));
    expect(queued?.filter(({ ms }) => ms !== null)).toEqual([
      { minutes: 19, ms: expect.closeTo(11 * 60_000, -3) },
      { minutes: 10, ms: 0 },
    ]);
  });
});
