import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { emptyTables } from '@paddock/testing/use-test-database';
import {
  type SignedDelivery,
  examplePayload,
  post,
  signedDelivery,
} from '@paddock/testing/signed-delivery';
import { waitFor } from '@paddock/testing/wait-for';
import { type Socket, connect } from 'node:net';
import { PATIENT, configOf, jobDelivery, useIngress } from './scenes/ingress.scene.ts';

const SECRETS = {
  SECRET_7: 'secret of 7',
  OLD_SECRET_7: 'older secret of 7',
  SECRET_8: 'secret of 8',
};
const CONFIG = configOf({
  apps: [
    { id: 7, webhookSecret: { env: 'SECRET_7' }, previousWebhookSecret: { env: 'OLD_SECRET_7' } },
    { id: 8, webhookSecret: { env: 'SECRET_8' } },
    { id: 9 },
  ],
});

const sign = (
  payload: unknown,
  more: { event?: string; secret?: string; appId?: number; headers?: Record<string, string> } = {},
) => signedDelivery({ event: 'ping', payload, secret: SECRETS.SECRET_7, appId: 7, ...more });

const without = ({ headers, body }: SignedDelivery, name: string): SignedDelivery => ({
  headers: Object.fromEntries(Object.entries(headers).filter(([header]) => header !== name)),
  body,
});

describe('deliveries over HTTP', () => {
  const { database, ingress } = useIngress({ config: CONFIG, env: SECRETS });
  beforeEach(() => emptyTables(database.db, ['installation_events', 'jobs']));

  const send = async (delivery: SignedDelivery, path = '/webhooks/github') => {
    const answer = await post(ingress.base + path, delivery);
    return { status: answer.status, text: (await answer.text()).trim() };
  };
  const events = () =>
    database.db.selectFrom('installation_events').selectAll().orderBy('id').execute();
  const expectNothingStored = async () => {
    expect(await events()).toEqual([]);
    expect(await database.db.selectFrom('jobs').select('job_id').execute()).toEqual([]);
  };

  test.each(['x-github-event', 'x-github-delivery', 'x-hub-signature-256'])(
    'without %s it is 400 and nothing is stored (B1)',
    async (name) => {
      const answer = await send(without(await sign({}), name));
      expect(answer).toMatchObject({
        status: 400,
        text: expect.stringMatching(new RegExp(`The header ${name} is missing`, 'i')),
      });
      await expectNothingStored();
    },
  );

  test('every fault of a signature gets one and the same 401 (B1, B2)', async () => {
    const good = await sign({});
    const wrong = [
      await sign({}, { secret: 'a guess' }),
      await sign({}, { secret: SECRETS.SECRET_8 }),
      await sign({}, { appId: 8 }),
      // The log has one line for all Apps that are not configured: that of the first.
      await sign({}, { appId: 10 }),
      await sign({}, { appId: 9 }),
      { ...good, body: '{} ' },
      await sign({}, { headers: { 'x-hub-signature-256': 'sha256=00' } }),
      without(good, 'x-github-hook-installation-target-id'),
      await sign({}, { headers: { 'x-github-hook-installation-target-id': 'seven' } }),
    ];
    for (const delivery of wrong)
      expect(await send(delivery)).toMatchObject({
        status: 401,
        text: 'The signature does not match.',
      });
    await expectNothingStored();
    for (const said of [
      'GitHub has another webhook secret for App 7',
      'App 10 is not configured: the webhook belongs to another App',
      'X-GitHub-Hook-Installation-Target-ID is missing, and several Apps are configured',
    ]) {
      await waitFor(`the line "${said}"`, () =>
        ingress.lines().some((line) => line.includes(said)),
      );
    }
  });

  test('the JSON in a form, which is GitHub’s other content type, is stored as if it had come alone (P1)', async () => {
    const body = `payload=${encodeURIComponent(JSON.stringify({ zen: 'a+b & c=d ü' }))}`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(await send(await sign(body, { headers }))).toMatchObject({ text: 'ok' });
    expect(await events()).toMatchObject([
      { event: 'ping', outcome: 'ok', payload: { zen: 'a+b & c=d ü' } },
    ]);
  });

  test('each App has its own secret, and the previous one counts while it is replaced (B2)', async () => {
    expect(await send(await sign({}))).toMatchObject({ status: 200, text: 'ok' });
    expect(await send(await sign({}, { secret: SECRETS.OLD_SECRET_7 }))).toMatchObject({
      status: 200,
    });
    expect(await send(await sign({}, { secret: SECRETS.SECRET_8, appId: 8 }), '/')).toMatchObject({
      status: 200,
    });
    expect(await send(await sign({}), '/webhooks/github?source=hook')).toMatchObject({
      status: 200,
    });
    expect((await events()).map((event) => event.app_id)).toEqual([7, 7, 8, 7]);
    const metrics = (await ingress.ask('/metrics')).text;
    expect(metrics).toMatch(/paddock_newest_verified_delivery_timestamp_seconds\{app="8"\} \d/);
    expect(metrics).toMatch(/paddock_deliveries_total\{event="ping",outcome="ok"\} \d/);
  });

  const NO_JOB = 'not a workflow_job payload';
  test.each<[event: string, body: unknown, text: string]>([
    ['ping', '[]', ''],
    ['ping', '{"a":', ''],
    ['ping', 'payload=%7B', ''],
    ['ping', `{"a":${'['.repeat(600)}${']'.repeat(600)}}`, ''],
    ['workflow_job', { action: 'queued' }, NO_JOB],
    ['workflow_job', { action: 'queued', workflow_job: { id: 1e300 } }, NO_JOB],
  ])(
    'a signed body of %s that is no usable JSON object, or lacks what every job has, is 400 and nothing is stored (B5) #%#',
    async (event, body, text) => {
      const refused = { status: 400, text: expect.stringContaining(text) };
      expect(await send(await sign(body, { event }))).toMatchObject(refused);
      await expectNothingStored();
    },
  );

  test('characters that JSONB cannot hold are replaced and the row says so; numbers keep their digits (B9)', async () => {
    const text = String.raw`{"zen":"a\u0000b\ud800c \ud83d\ude00","n":12345678901234567890.5}`;
    expect(await send(await sign(text))).toMatchObject({ status: 200 });
    expect(await send(await sign('{"n":1e999999,"m":12345678901234567890}'))).toMatchObject({
      status: 200,
    });
    const rows = await database.db
      .selectFrom('installation_events')
      .select((eb) => [eb.cast<string>('payload', 'text').as('payload'), 'payload_repaired'])
      .orderBy('id')
      .execute();
    expect(rows).toEqual([
      {
        payload: '{"n": 12345678901234567890.5, "zen": "a\ufffdb\ufffdc 😀"}',
        payload_repaired: true,
      },
      { payload: '{"m": 12345678901234567890, "n": "1e999999"}', payload_repaired: true },
    ]);
    const job = examplePayload('workflow_job', 'queued', {
      workflow_job: { labels: ['linux'], name: 'a\0b\ud800' },
      repository: { private: true },
    });
    expect(await send(await sign(job, { event: 'workflow_job' }))).toMatchObject({
      text: 'job_stored',
    });
    expect(await database.db.selectFrom('jobs').select('job_name').execute()).toEqual([
      { job_name: 'a\ufffdb\ufffd' },
    ]);
  });
});

const KB = 1_024;
const MB = 1_024 * KB;

/** Longer than it takes to send all of it: no body ends by its own time here. */
const ENDLESS = { ingress: { ...PATIENT.ingress, bodyTimeoutMs: 300_000 } };

describe('unsigned bodies that never end', () => {
  const { ingress } = useIngress({ rules: ENDLESS });
  const sockets: Socket[] = [];
  afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

  /** Sends all of a body but for its last byte; resolves once that is sent or refused. */
  const sendUnfinished = async (bytes: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = connect(Number(new URL(ingress.base).port), '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.write(
      `POST /webhooks/github HTTP/1.1\r\nhost: x\r\nx-github-event: ping\r\nx-github-delivery: d\r\nx-hub-signature-256: sha256=${'0'.repeat(64)}\r\ncontent-length: ${bytes}\r\n\r\n`,
    );
    socket.write(Buffer.alloc(bytes - 1, 'x'), () => resolve());
    await promise;
  };
  const statusOf = async (jobId: number, name = 'build') =>
    (await ingress.deliver(await jobDelivery('queued', jobId, { name }))).status;

  // Each kind fills the room that the ones before it have left.
  test.each([
    ['large', { 14: 24 * MB, 21: MB, 22: 64 * KB, 20: 4 * KB }],
    ['ordinary', { 1_040: 256 * KB, 22: 16 * KB, 20: 4 * KB }],
  ])(
    '%s ones leave signed deliveries their 200, at the settings that are the default (B5, B6)',
    async (_what, kinds) => {
      for (const [count, bytes] of Object.entries(kinds).toSorted(([, a], [, b]) => b - a)) {
        for (let sent = 0; sent < Number(count); sent += 10)
          await Promise.all(Array.from({ length: 10 }, () => sendUnfinished(bytes)));
      }
      // The last ones may not be recognised as trickling yet.
      await waitFor('a delivery that is stored', async () => (await statusOf(900)) === 200);
      for (const jobId of [901, 902, 903, 904, 905]) expect(await statusOf(jobId)).toBe(200);
      // A few hundred KB, as a job with very many steps.
      await waitFor(
        'a large delivery that is stored',
        async () => (await statusOf(906, 'x'.repeat(600_000))) === 200,
      );
      expect(await ingress.metric('paddock_held_bytes')).toBeLessThanOrEqual(256 * MB);
    },
  );
});
