import { afterEach, describe, expect, test } from '@jest/globals';
import type { DeliveryToRecord } from '@paddock/db/deliveries/record-deliveries';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { type HttpServer, listenHttp } from '@paddock/runtime/http-server';
import { Secret } from '@paddock/runtime/secret';
import { waitFor } from '@paddock/testing/wait-for';
import { createHmac } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { createBodyBudget } from './read-body.ts';
import type { Refusal } from './events.ts';
import { createListener } from './http.ts';
import { type ReceiveOptions, createReceiveDelivery } from './receive-delivery.ts';
import { NotReady } from './pools.ts';

const stored = (): Promise<Outcome> => Promise.resolve('ok');

const SECRET = 'a secret';

/** Of a ping to App 7, signed. */
const headersFor = (body: string, changes: Record<string, string> = {}) => ({
  'x-github-event': 'ping',
  'x-github-delivery': 'guid-1',
  'x-github-hook-installation-target-id': '7',
  'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
  ...changes,
});

describe('receiving a delivery', () => {
  let server: HttpServer | undefined;
  afterEach(() => server?.close());

  /** Listens in this process; `store` takes PostgreSQL's place. */
  async function start(
    store: (delivery: DeliveryToRecord) => Promise<Outcome>,
    changes: Partial<ReceiveOptions> = {},
  ) {
    const refusals: Refusal[] = [];
    const seen: string[] = [];
    // A body trickles once the test's clock says so.
    const clock = { now: 0 };
    const budget = createBodyBudget(
      { maxBodyBytes: 10_000, maxHeldBytes: 12_000 },
      () => clock.now,
    );
    const receive = createReceiveDelivery({
      apps: () => [{ id: 7, secrets: [new Secret(SECRET)] }],
      batcher: { add: store },
      budget,
      answerTimeoutMs: 5_000,
      reducesIgnoredJobs: true,
      events: {
        verified: (appId) => void seen.push(`verified ${appId}`),
        stored: () => undefined,
        refused: (refusal) => void refusals.push(refusal),
      },
      gaps: {
        refused: (appId) => void seen.push(`refused ${appId}`),
        stored: (appId) => void seen.push(`stored ${appId}`),
      },
      ...changes,
    });
    const listener = createListener(receive, () => false);
    server = await listenHttp(listener, { port: 0, host: '127.0.0.1' });
    const url = `http://127.0.0.1:${server.port}/webhooks/github`;
    const post = async (body: string, headers: Record<string, string> = headersFor(body)) => {
      const answer = await fetch(url, { method: 'POST', body, headers });
      return { status: answer.status, retryAfter: answer.headers.get('retry-after') };
    };
    return { url, post, refusals, budget, clock, seen };
  }

  test('a stored delivery shows that there is no gap, and only our own refusal shows one (E1)', async () => {
    let store = stored;
    const { post, seen } = await start(() => store());
    expect((await post('{}')).status).toBe(200);
    expect((await post('{}', headersFor('another body'))).status).toBe(401);
    expect((await post('no JSON')).status).toBe(400);
    store = () => Promise.reject(new NotReady('no pools yet'));
    expect((await post('{}')).status).toBe(503);
    expect(seen).toEqual(['stored 7', 'verified 7', 'refused 7', 'verified 7']);
  });

  test('a repeated body does not show that GitHub reaches us, under any GUID or event (E1)', async () => {
    const outcomes: Outcome[] = ['ok', 'repeated_body', 'job_already_exists'];
    const store = () => Promise.resolve(outcomes.shift() ?? 'ok');
    const { post, seen } = await start(store);
    const count = async (body: string, event = 'ping') => {
      seen.length = 0;
      await post(body, headersFor(body, { 'x-github-event': event }));
      return seen.filter((one) => one === 'verified 7').length;
    };
    expect(await count('{}')).toBe(1);
    expect(await count('{}')).toBe(0);
    expect(await count('[]', 'workflow_job')).toBe(0);
    expect(await count('{}')).toBe(1);
  });

  test('answers 503 to a delivery that is not stored in time, while not ready, and on unexpected errors (B5)', async () => {
    const failures = [
      () => new Promise<Outcome>(() => undefined),
      () => Promise.reject(new NotReady('not yet')),
      () => Promise.reject(Object.assign(new Error('read-only'), { code: '25006' })),
      () => Promise.reject(Object.assign(new Error('no such table'), { code: '42P01' })),
    ];
    const { post, refusals } = await start(() => (failures.shift() ?? stored)(), {
      answerTimeoutMs: 30,
    });
    for (let index = 0; index < 4; index++)
      expect(await post('{}')).toMatchObject({ status: 503, retryAfter: '10' });
    expect(refusals).toEqual(['too_slow', 'not_ready', 'database_unavailable', 'internal']);
    expect(await post('{}')).toMatchObject({ status: 200 });
  });

  test('a payload that JSONB refuses is tried once more, rewritten, and then refused with 400 (B5, B9)', async () => {
    const tried: DeliveryToRecord[] = [];
    const { post } = await start((delivery) => {
      tried.push(delivery);
      return Promise.reject(Object.assign(new Error('out of range'), { code: '22003' }));
    });
    expect(await post('{"n":1e9999}')).toMatchObject({ status: 400 });
    expect(
      tried.map(({ payload, payloadRepaired }) => ({ payload: String(payload), payloadRepaired })),
    ).toEqual([
      { payload: '{"n":1e9999}', payloadRepaired: false },
      { payload: '{"n":"1e9999"}', payloadRepaired: true },
    ]);
  });

  test('bodies that would not fit into memory together are refused with 503, until one of them trickles: it is cut off, and is asked to come again (B6)', async () => {
    const { post, url, budget, clock, refusals, seen } = await start(stored);
    const { promise: answer, resolve } = Promise.withResolvers<IncomingMessage>();
    const headers = { ...headersFor(''), 'content-length': '8000' };
    const slow = request(url, { method: 'POST', headers }, resolve);
    slow.on('error', () => undefined);
    slow.write('x'.repeat(7_000));
    await waitFor('the first part of a slow body', () => budget.heldBytes === 7_000);
    const large = JSON.stringify({ text: 'x'.repeat(6_000) });
    expect(await post(large)).toMatchObject({ status: 503, retryAfter: '10' });
    // Its signature has not been checked.
    expect(seen).toEqual(['refused undefined']);
    expect(await post('{}')).toMatchObject({ status: 200 });
    clock.now = 1_000;
    expect(await post(large)).toMatchObject({ status: 200 });
    expect(await answer).toMatchObject({
      statusCode: 503,
      headers: { connection: 'close', 'retry-after': '10' },
    });
    expect(refusals.at(-1)).toBe('cut_off');
    expect(budget).toMatchObject({ heldBytes: 0, requests: 0 });
  });
});

const KB = 1_024;
const MB = 1_024 * KB;

/** Room for 64 MB with bodies of up to 16 MB. */
const start = () => {
  const clock = { now: 0 };
  const budget = createBodyBudget(
    { maxBodyBytes: 16 * MB, maxHeldBytes: 64 * MB },
    () => clock.now,
  );
  const cut: string[] = [];
  /** A body whose first `bytes` are here; undefined if it was refused. */
  const send = (name: string, bytes: number) => {
    const claim = budget.admit(() => {
      cut.push(name);
      claim?.release();
    });
    return claim?.hold(bytes) === true ? claim : undefined;
  };
  return { budget, clock, cut, send };
};

describe('the room for bodies', () => {
  test('bodies of all sizes share it, and none has more than there is (B6)', () => {
    const { budget, cut, send } = start();
    const large = ['one', 'two', 'three'].map((name) => send(name, 16 * MB));
    for (let index = 0; index < 64; index++)
      expect(send(`ordinary ${index}`, 256 * KB)).toBeDefined();
    expect(send('one too many', 1)).toBeUndefined();
    expect(budget.heldBytes).toBe(64 * MB);
    expect(cut).toEqual([]);
    large[0]?.release();
    large[0]?.release();
    expect(budget).toMatchObject({ heldBytes: 48 * MB, requests: 67 });
    expect(large[0]?.hold(1)).toBe(false);
    expect(send('three', 15 * MB)).toBeDefined();
  });

  test('the body that has been arriving for longest is cut off first, and only without free room (B6)', () => {
    const { budget, clock, cut, send } = start();
    send('oldest', 15 * MB);
    clock.now = 100;
    const older = send('older', 15 * MB);
    clock.now = 1_000;
    expect(older?.hold(MB)).toBe(true);
    for (const name of ['young', 'younger']) expect(send(name, 16 * MB)).toBeDefined();
    expect(cut).toEqual([]);
    expect(send('next', 16 * MB)).toBeDefined();
    expect(cut).toEqual(['oldest']);
    expect(send('after it', 16 * MB)).toBeDefined();
    expect(cut).toEqual(['oldest', 'older']);
    // All others have just begun.
    expect(send('one too many', 16 * MB)).toBeUndefined();
    expect(cut).toEqual(['oldest', 'older']);
    expect(budget.heldBytes).toBe(64 * MB);
  });

  test('one that is here whole keeps its room, however long it waits to be stored (B6)', () => {
    const { clock, cut, send } = start();
    for (const name of ['one', 'two', 'three', 'four']) send(name, 16 * MB)?.arrived();
    clock.now = 10_000;
    expect(send('five', 1)).toBeUndefined();
    expect(cut).toEqual([]);
  });
});
