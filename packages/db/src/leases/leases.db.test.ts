import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { startTunnel } from '@paddock/testing/tunnel';
import { pause } from '@paddock/runtime/pause';
import { beforeEach, describe, expect, test } from '@jest/globals';
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
    expect(await renewLease(database.db, NAME, 1, LONG_MS)).toBe(false);
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

const options = (name: string, errors: unknown[] = []) => ({
  db: database.db,
  name: NAME,
  holder: name,
  leaseMs: 400,
  renewMs: 20,
  onError: (error: unknown) => void errors.push(error),
});

describe('holding a lease (A12)', () => {
  test('a replica that lost it is notified, and works again once it is free', async () => {
    const running = new Set<string>();
    const stop = new AbortController();
    const holding = holdLease(options('held'), steadyWork(running, 'held'), stop.signal);
    await waitFor('the work', () => running.has('held'));
    await sql`update leases set holder = 'thief', fence = fence + 1, expires_at = now() + interval '1 minute'`.execute(
      database.db,
    );
    const stolen = await holder();
    await waitFor('the end of the work', () => running.size === 0);
    await expire();
    await waitFor('the work to go on', () => running.has('held'));
    stop.abort();
    await holding;
    const again = await holder();
    expect([stolen?.holder, again?.holder]).toEqual(['thief', 'held']);
    expect(again?.fence).toBeGreaterThan(stolen?.fence ?? Number.NaN);
  });

  test('one of two works; when it stops, the other does', async () => {
    const running = new Set<string>();
    const stops = { one: new AbortController(), two: new AbortController() };
    const holding = Object.entries(stops).map(([name, { signal }]) =>
      holdLease(options(name), steadyWork(running, name), signal),
    );
    await waitFor('one of them to work', () => running.size > 0);
    const [first] = running;
    expect(running.size).toBe(1);
    stops[first === 'one' ? 'one' : 'two'].abort();
    await waitFor('the other to work', () => running.size === 1 && !running.has(first ?? ''));
    for (const stop of Object.values(stops)) stop.abort();
    await Promise.all(holding);
    expect(running.size).toBe(0);
  });

  test('work ends by the clock when PostgreSQL goes silent, although its renewal is never answered', async () => {
    const tunnel = await startTunnel(database.url);
    const cuts: unknown[] = [];
    const silenced = connectDatabase({
      url: tunnel.url,
      schema: database.schema,
      poolSize: 1,
      applicationName: 'silenced',
      statementTimeoutMs: 1_000,
      onCut: (error) => void cuts.push(error),
    });
    const running = new Set<string>();
    const errors: unknown[] = [];
    const stop = new AbortController();
    const holding = holdLease(
      { ...options('silenced', errors), db: silenced.db },
      steadyWork(running, 'silenced'),
      stop.signal,
    );
    await waitFor('the work', () => running.has('silenced'));
    tunnel.replaceServer();
    await waitFor('the end of the work', () => running.size === 0);
    expect({ errors, cuts }).toEqual({ errors: [], cuts: [] });
    await waitFor('the work to go on', () => running.has('silenced'));
    stop.abort();
    await holding;
    await silenced.close();
    await tunnel.cut();
  });

  test('a lease that took too long to be had is not worked under', async () => {
    const tunnel = await startTunnel(database.url);
    const slow = connectDatabase({
      url: tunnel.url,
      schema: database.schema,
      poolSize: 1,
      applicationName: 'slow',
    });
    const stop = new AbortController();
    const fences: (number | undefined)[] = [];
    const work = async () => void fences.push((await holder())?.fence);
    await sql`select 1`.execute(slow.db);
    tunnel.setHeld(true);
    const holding = holdLease({ ...options('slow'), db: slow.db }, work, stop.signal);
    const released = new AbortController();
    await pause(600, released.signal);
    tunnel.setHeld(false);
    await waitFor('the work', () => fences.length > 0);
    expect(fences[0]).toBeGreaterThan(1);
    stop.abort();
    await holding;
    await slow.close();
    await tunnel.cut();
  });

  test('work that fails gives the lease back, is reported, and is taken up again', async () => {
    const errors: unknown[] = [];
    const stop = new AbortController();
    let runs = 0;
    const failing = async () => {
      runs++;
      return Promise.reject(new Error(`run ${runs}`));
    };
    const holding = holdLease(options('failing', errors), failing, stop.signal);
    await waitFor('three runs', () => runs >= 3);
    stop.abort();
    await holding;
    expect(errors.slice(0, 3)).toEqual([
      new Error('run 1'),
      new Error('run 2'),
      new Error('run 3'),
    ]);
    expect(await take('another')).toBeGreaterThan(runs);
  });
});
