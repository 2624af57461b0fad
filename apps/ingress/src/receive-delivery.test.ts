import { afterEach, describe, expect, test } from '@jest/globals';
import { type IncomingMessage, request } from 'node:http';
import type { DeliveryToRecord } from '@paddock/db/deliveries/record-deliveries';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { type HttpServer, listenHttp } from '@paddock/runtime/http-server';
import { Secret } from '@paddock/runtime/secret';
import { fc } from '@paddock/testing/random-cases';
import { waitFor } from '@paddock/testing/wait-for';
import { createBodyBudget } from './body-budget.ts';
import type { IngressEvents, Refusal } from './events.ts';
import { createListener } from './http.ts';
import { createReceiveDelivery, type ReceiveOptions } from './receive-delivery.ts';
import { headersFor, SECRET } from './scenes/ping.scene.ts';
import { createRepeats } from './count-repeats.ts';
import { NotReady } from './write-deliveries.ts';

const fail = () => {
  throw new Error('a fault of our own');
};

const stored = (): Promise<Outcome> => Promise.resolve('ok');

describe('receiving a delivery', () => {
  let server: HttpServer | undefined;

  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  /** Listens in this process; `store` takes PostgreSQL's place. */
  async function start(
    store: (delivery: DeliveryToRecord) => Promise<Outcome>,
    changes: Partial<ReceiveOptions> = {},
    isStopping = false,
  ) {
    const refusals: { refusal: Refusal; error?: unknown }[] = [];
    const seen: string[] = [];
    const events: Pick<IngressEvents, 'verified' | 'stored' | 'refused'> = {
      verified: () => undefined,
      stored: () => undefined,
      refused: (refusal, { error }) => refusals.push({ refusal, error }),
    };
    // Its clock is the test's: a body trickles once the test says so.
    const clock = { now: 0 };
    const budget = createBodyBudget(
      { maxBodyBytes: 10_000, maxHeldBytes: 12_000, maxRequests: 3 },
      () => clock.now,
    );
    const receive = createReceiveDelivery({
      apps: () => [{ id: 7, secrets: [new Secret(SECRET)] }],
      batcher: { add: store },
      budget,
      answerTimeoutMs: 5_000,
      reducesIgnoredJobs: true,
      events,
      repeats: createRepeats(),
      gaps: {
        refused: (appId) => void seen.push(`refused ${appId}`),
        turnedAway: () => void seen.push('turned away'),
        stored: (appId) => void seen.push(`stored ${appId}`),
      },
      ...changes,
    });
    server = await listenHttp(createListener({ receive, isStopping: () => isStopping }), {
      port: 0,
      host: '127.0.0.1',
    });
    const url = `http://127.0.0.1:${server.port}/webhooks/github`;
    const post = async (body: string, headers: Record<string, string> = headersFor(body)) => {
      const answer = await fetch(url, { method: 'POST', body, headers });
      return {
        status: answer.status,
        retryAfter: answer.headers.get('retry-after'),
        connection: answer.headers.get('connection'),
      };
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
    expect(seen).toEqual(['stored 7', 'refused 7']);
  });

  test('a repeated body does not show that GitHub reaches us, under any GUID or event (E1)', async () => {
    const outcomes: Outcome[] = ['ok', 'repeated_body', 'job_already_exists'];
    const verified: number[] = [];
    const count = async (act: () => Promise<unknown>) => {
      const before = verified.length;
      await act();
      return verified.length - before;
    };
    const events = {
      verified: (appId: number) => void verified.push(appId),
      stored: () => undefined,
      refused: () => undefined,
    };
    const repeats = { isExcessive: () => outcomes.length === 0, stored: () => undefined };
    const { post } = await start(() => Promise.resolve(outcomes.shift() ?? 'ok'), {
      events,
      repeats,
    });
    expect(await count(() => post('{}'))).toBe(1);
    expect(await count(() => post('{}'))).toBe(0);
    expect(
      await count(() => post('[]', headersFor('[]', { 'x-github-event': 'workflow_job' }))),
    ).toBe(0);
    expect(await count(() => post('{}'))).toBe(1);
    expect(await count(() => post('{}'))).toBe(0);
  });

  test('a delivery that we cannot store shows that GitHub reaches us (E1)', async () => {
    const verified: number[] = [];
    const events = {
      verified: (appId: number) => void verified.push(appId),
      stored: () => undefined,
      refused: () => undefined,
    };
    const { post } = await start(() => Promise.reject(new NotReady('no pools yet')), { events });
    await post('{}');
    expect(verified).toEqual([7]);
  });

  test('any request is answered with 200, 400, 401 or 413, and its memory is given back (B1, B5)', async () => {
    const { post, refusals, budget } = await start(stored);
    const event = fc.constantFrom(
      'ping',
      'workflow_job',
      'installation',
      'installation_repositories',
      'installation_target',
      'push',
      'Bad Event',
      '',
    );
    const action = fc.constantFrom({ action: 'queued' }, { action: 'created' }, {}, { action: 5 });
    const fields = fc.dictionary(
      fc.constantFrom('workflow_job', 'installation', 'repository', 'account', 'target_type'),
      fc.jsonValue(),
    );
    const body = fc.oneof(
      fc.string(),
      fc.json(),
      fc.tuple(action, fields).map(([a, f]) => JSON.stringify({ ...f, ...a })),
      fc.constant('x'.repeat(10_001)),
    );
    await fc.assert(
      fc.asyncProperty(event, body, fc.boolean(), async (name, text, isSigned) => {
        const answer = await post(
          text,
          headersFor(isSigned ? text : `${text} `, { 'x-github-event': name }),
        );
        expect(isSigned ? [200, 400, 413] : [400, 401, 413]).toContain(answer.status);
      }),
      { numRuns: 300 },
    );
    expect(refusals.filter(({ refusal }) => refusal === 'internal')).toEqual([]);
    expect(budget).toMatchObject({ heldBytes: 0, requests: 0 });
  });

  test('without a header that names the App, the only App there is counts (B2)', async () => {
    const { post } = await start(stored);
    const { 'x-github-hook-installation-target-id': _, ...headers } = headersFor('{}');
    expect(await post('{}', headers)).toMatchObject({ status: 200 });
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
    expect(refusals.map(({ refusal }) => refusal)).toEqual([
      'too_slow',
      'not_ready',
      'database_unavailable',
      'internal',
    ]);
    expect(await post('{}')).toMatchObject({ status: 200 });
  });

  test('a fault of our own is answered with 503 too, before anything is stored (B5)', async () => {
    const refusals: Refusal[] = [];
    const events = {
      verified: () => undefined,
      stored: () => undefined,
      refused: (refusal: Refusal) => void refusals.push(refusal),
    };
    const { post, budget } = await start(stored, {
      events,
      repeats: { isExcessive: fail, stored: fail },
    });
    expect(await post('{}')).toMatchObject({ status: 503, retryAfter: '10' });
    expect(refusals).toEqual(['internal']);
    expect(budget).toMatchObject({ heldBytes: 0, requests: 0 });
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

  test('bodies that would not fit into memory together are refused with 503, until there is room again (B6)', async () => {
    const { post, url, budget, seen } = await start(stored);
    const slow = request(url, {
      method: 'POST',
      headers: { ...headersFor(''), 'content-length': '8000' },
    });
    slow.on('error', () => undefined);
    slow.write('x'.repeat(7_000));
    await waitFor('the first part of a slow body', () => budget.heldBytes === 7_000);
    const large = JSON.stringify({ text: 'x'.repeat(6_000) });
    expect(await post(large)).toMatchObject({ status: 503, retryAfter: '10' });
    // Its signature has not been checked.
    expect(seen).toEqual(['turned away']);
    expect(await post('{}')).toMatchObject({ status: 200 });
    slow.destroy();
    await waitFor('the memory of the slow body', () => budget.heldBytes === 0);
    expect(await post(large)).toMatchObject({ status: 200 });
  });

  test('a trickling body is cut off for one that needs its room, is asked to come again, and loses its connection (B6)', async () => {
    const { post, url, budget, clock, refusals } = await start(stored);
    const { promise: answer, resolve } = Promise.withResolvers<IncomingMessage>();
    const slow = request(
      url,
      { method: 'POST', headers: { ...headersFor(''), 'content-length': '8000' } },
      resolve,
    );
    slow.on('error', () => undefined);
    slow.write('x'.repeat(7_000));
    await waitFor('the first part of a slow body', () => budget.heldBytes === 7_000);
    clock.now = 1_000;
    expect(await post(JSON.stringify({ text: 'x'.repeat(6_000) }))).toMatchObject({ status: 200 });
    expect(await answer).toMatchObject({
      statusCode: 503,
      headers: { connection: 'close', 'retry-after': '10' },
    });
    expect(refusals.map(({ refusal }) => refusal)).toEqual(['cut_off']);
    expect(budget).toMatchObject({ heldBytes: 0, requests: 0 });
  });

  test('beyond the limit of requests, the last ones are refused at once, without reading their bodies (B6)', async () => {
    const waiting: (() => void)[] = [];
    const store = () => new Promise<Outcome>((resolve) => void waiting.push(() => resolve('ok')));
    const { post, budget, refusals } = await start(store);
    const first = [post('{}'), post('{}'), post('{}')];
    await waitFor('three deliveries that are being stored', () => waiting.length === 3);
    expect(await post('{}')).toMatchObject({ status: 503, retryAfter: '10' });
    expect(refusals.map(({ refusal }) => refusal)).toEqual(['overloaded']);
    for (const finish of waiting) finish();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200, 200]);
    await waitFor('room again', () => budget.requests === 0);
    expect(budget.heldBytes).toBe(0);
  });

  test('a delivery that was answered as too slow counts until its memory is free (B6)', async () => {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const { post, budget } = await start(() => promise, { answerTimeoutMs: 30 });
    expect(await post('{}')).toMatchObject({ status: 503 });
    expect(budget).toMatchObject({ heldBytes: 2, requests: 1 });
    resolve('ok');
    await waitFor('room again', () => budget.requests === 0 && budget.heldBytes === 0);
  });

  test('while the service stops, answers end their connection (H2)', async () => {
    const { post } = await start(stored, {}, true);
    expect(await post('{}')).toMatchObject({ status: 200, connection: 'close' });
  });
});
