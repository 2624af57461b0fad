import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { startTunnel } from '@paddock/testing/tunnel';
import { pause } from '@paddock/runtime/pause';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import { connectDatabase } from '../connection/connect.ts';
import { holdLease, renewLease, takeLease } from './leases.ts';

const database = useTestDatabase();
beforeEach(async () => {
  await database.db.deleteFrom('leases').execute();
});

const NAME = 'follow-pods';
const LONG_MS = 60_000;
const take = (holder: string, leaseMs = LONG_MS) => takeLease(database.db, NAME, holder, leaseMs);
const renew = (holderName: string, fence: number) =>
  renewLease(database.db, { name: NAME, holder: holderName, fence }, LONG_MS);
const expire = () =>
  sql`update leases set expires_at = now() - interval '1 second'`.execute(database.db);
const holder = async () =>
  (await database.db.selectFrom('leases').select(['holder', 'fence']).execute())[0];

describe('a lease (A12)', () => {
  test('is taken by one of many that come at once', async () => {
    const fences = await Promise.all(
      Array.from({ length: 10 }, (_, index) => take(`holder ${index}`)),
    );
    expect(fences.filter((fence) => fence !== undefined)).toEqual([1]);
  });

  test('is taken over after its end, by one, with a higher fence, and its former holder extends nothing', async () => {
    await take('first');
    expect(await take('second')).toBeUndefined();
    await expire();
    const fences = await Promise.all([take('second'), take('third')]);
    expect(fences.filter((fence) => fence !== undefined)).toEqual([2]);
    expect(await renew('first', 1)).toBe(false);
  });

  test('is not held twice after a failover that lost its taking, although the fence comes again', async () => {
    expect(await take('first')).toBe(1);
    await database.db.deleteFrom('leases').execute();
    expect(await take('second')).toBe(1);
    expect([await renew('first', 1), await renew('second', 1)]).toEqual([false, true]);
  });
});

/** Work that lasts until its signal aborts, and reports when it runs. */
const steadyWork = (running: Set<string>, name: string) => async (signal: AbortSignal) => {
  running.add(name);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  running.delete(name);
};

/** Holds the lease for `work` until `stop`. */
function hold(holderName: string, work: Parameters<typeof holdLease>[1], db = database.db) {
  const stopping = new AbortController();
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const times = { leaseMs: 400, renewMs: 20 };
  const holding = holdLease(
    { db, name: NAME, holder: holderName, ...times, onError },
    work,
    stopping.signal,
  );
  const stop = async () => {
    stopping.abort();
    await holding;
  };
  return { errors, stop };
}

const connect = (url: string, more: { onCut?: (error: unknown) => void } = {}) =>
  connectDatabase({
    url,
    schema: database.schema,
    poolSize: 1,
    applicationName: 'holder',
    statementTimeoutMs: 1_000,
    ...more,
  });

describe('holding a lease (A12)', () => {
  test('a replica that lost it is notified, and works again once it is free', async () => {
    const running = new Set<string>();
    const { stop } = hold('held', steadyWork(running, 'held'));
    await waitFor('the work', () => running.has('held'));
    await sql`update leases set holder = 'thief', fence = fence + 1, expires_at = now() + interval '1 minute'`.execute(
      database.db,
    );
    const stolen = await holder();
    await waitFor('the end of the work', () => running.size === 0);
    await expire();
    await waitFor('the work to go on', () => running.has('held'));
    await stop();
    const again = await holder();
    expect([stolen?.holder, again?.holder]).toEqual(['thief', 'held']);
    expect(again?.fence).toBeGreaterThan(stolen?.fence ?? Number.NaN);
  });

  test('one of two works; when it stops, the other does', async () => {
    const running = new Set<string>();
    const holders = new Map(
      ['one', 'two'].map((name) => [name, hold(name, steadyWork(running, name))]),
    );
    await waitFor('one of them to work', () => running.size > 0);
    const [first = ''] = running;
    expect(running.size).toBe(1);
    await holders.get(first)?.stop();
    await waitFor('the other to work', () => running.size === 1 && !running.has(first));
    for (const { stop } of holders.values()) await stop();
    expect(running.size).toBe(0);
  });

  test('work ends by the clock when PostgreSQL goes silent, although its renewal is never answered', async () => {
    const tunnel = await startTunnel(database.url);
    const cuts: unknown[] = [];
    const silenced = connect(tunnel.url, { onCut: (error) => void cuts.push(error) });
    const running = new Set<string>();
    const { stop, errors } = hold('silenced', steadyWork(running, 'silenced'), silenced.db);
    await waitFor('the work', () => running.has('silenced'));
    tunnel.replaceServer();
    await waitFor('the end of the work', () => running.size === 0);
    expect({ errors, cuts }).toEqual({ errors: [], cuts: [] });
    await waitFor('the work to go on', () => running.has('silenced'));
    await stop();
    await silenced.close();
    await tunnel.cut();
  });

  test('a lease that took too long to be had is not worked under', async () => {
    const tunnel = await startTunnel(database.url);
    const slow = connect(tunnel.url);
    const fences: (number | undefined)[] = [];
    const work = async () => void fences.push((await holder())?.fence);
    await sql`select 1`.execute(slow.db);
    tunnel.setHeld(true);
    const { stop } = hold('slow', work, slow.db);
    const released = new AbortController();
    await pause(600, released.signal);
    tunnel.setHeld(false);
    await waitFor('the work', () => fences.length > 0);
    expect(fences[0]).toBeGreaterThan(1);
    await stop();
    await slow.close();
    await tunnel.cut();
  });

  test('a renewal that is answered too late ends the work, and sets no timer into the past', async () => {
    const tunnel = await startTunnel(database.url);
    const late = connect(tunnel.url);
    const timers = jest.spyOn(globalThis, 'setTimeout');
    const running = new Set<string>();
    const { stop } = hold('late', steadyWork(running, 'late'), late.db);
    await waitFor('the work', () => running.has('late'));
    tunnel.setHeld(true);
    await waitFor('the end of the work', () => running.size === 0);
    await pause(200, new AbortController().signal);
    tunnel.setHeld(false);
    await waitFor('the work to go on', () => running.has('late'));
    await stop();
    expect(timers.mock.calls.filter(([, ms = 0]) => ms < 0)).toEqual([]);
    timers.mockRestore();
    await late.close();
    await tunnel.cut();
  });

  test('work that fails gives the lease back, is reported, and is taken up again', async () => {
    let runs = 0;
    const { stop, errors } = hold('failing', () => Promise.reject(new Error(`run ${++runs}`)));
    await waitFor('three runs', () => runs >= 3);
    await stop();
    expect(errors.slice(0, 3)).toEqual([1, 2, 3].map((run) => new Error(`run ${run}`)));
    expect(await take('another')).toBeGreaterThan(runs);
  });
});
