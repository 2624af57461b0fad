import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { TestDatabase } from '@paddock/testing/database';
import {
  type SignedDelivery,
  examplePayload,
  post,
  signedDelivery,
} from '@paddock/testing/signed-delivery';
import { waitFor } from '@paddock/testing/wait-for';
import { createHmac } from 'node:crypto';
import { type Socket, connect } from 'node:net';
import {
  type Ingress,
  PATIENT,
  createIngressDatabase,
  jobDelivery,
  startIngress,
} from './scenes/ingress.scene.ts';

describe('deliveries over HTTP', () => {
  let ingress: SignedIngress;

  beforeAll(async () => {
    ingress = await startSignedIngress();
  });
  afterAll(() => ingress.stop());
  beforeEach(() => ingress.forget());

  test.each(['x-github-event', 'x-github-delivery', 'x-hub-signature-256'])(
    'without %s it is 400 and nothing is stored (B1)',
    async (name) => {
      const answer = await ingress.send(without(await sign({}), name));
      expect(answer).toMatchObject({
        status: 400,
        text: expect.stringMatching(new RegExp(`The header ${name} is missing`, 'i')),
      });
      await ingress.expectNothingStored();
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
      { ...good, body: 'not JSON' },
      await sign({}, { headers: { 'x-hub-signature-256': 'sha256=00' } }),
      await sign(
        {},
        {
          headers: {
            'x-hub-signature-256': String(good.headers['x-hub-signature-256']).toUpperCase(),
          },
        },
      ),
      without(good, 'x-github-hook-installation-target-id'),
      await sign({}, { headers: { 'x-github-hook-installation-target-id': 'seven' } }),
    ];
    for (const delivery of wrong)
      expect(await ingress.send(delivery)).toMatchObject({
        status: 401,
        text: 'The signature does not match.',
      });
    await ingress.expectNothingStored();
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
    const { headers } = await sign('unsigned', {
      headers: { 'x-hub-signature-256': hmacOf(body) },
    });
    expect(
      await ingress.send({
        headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
        body,
      }),
    ).toMatchObject({
      text: 'ok',
    });
    expect(await ingress.events()).toMatchObject([
      { event: 'ping', outcome: 'ok', payload: { zen: 'a+b & c=d ü' } },
    ]);
  });

  test('each App has its own secret, and the previous one counts while it is replaced (B2)', async () => {
    expect(await ingress.send(await sign({}))).toMatchObject({ status: 200, text: 'ok' });
    expect(await ingress.send(await sign({}, { secret: SECRETS.OLD_SECRET_7 }))).toMatchObject({
      status: 200,
    });
    expect(
      await ingress.send(await sign({}, { secret: SECRETS.SECRET_8, appId: 8 }), '/'),
    ).toMatchObject({ status: 200 });
    expect(await ingress.send(await sign({}), '/webhooks/github?source=hook')).toMatchObject({
      status: 200,
    });
    expect((await ingress.events()).map((event) => event.app_id)).toEqual([7, 7, 8, 7]);
    const metrics = (await ingress.ask('/metrics')).text;
    expect(metrics).toMatch(/paddock_newest_verified_delivery_timestamp_seconds\{app="8"\} \d/);
    expect(metrics).toMatch(/paddock_deliveries_total\{event="ping",outcome="ok"\} \d/);
  });

  test.each(['', '[]', '1', '{"a":', 'payload=%7B', `{"a":${'['.repeat(600)}${']'.repeat(600)}}`])(
    'a signed body that is no usable JSON object is 400 and nothing is stored (B5) #%#',
    async (body) => {
      const { headers } = await sign('unsigned', {
        headers: { 'x-hub-signature-256': hmacOf(body) },
      });
      expect(await ingress.send({ headers, body })).toMatchObject({ status: 400 });
      await ingress.expectNothingStored();
    },
  );

  test.each([{}, { action: 'queued' }, { action: 'queued', workflow_job: { id: 1e300 } }])(
    'a workflow_job that lacks what every one has is 400 and nothing is stored (B5) #%#',
    async (payload) => {
      expect(
        await ingress.send(await sign({ action: 'queued', ...payload }, { event: 'workflow_job' })),
      ).toMatchObject({
        status: 400,
        text: expect.stringContaining('not a workflow_job payload'),
      });
      await ingress.expectNothingStored();
    },
  );

  test('a body of very many objects is 400 before any of them is made; brackets in a text are none (B5, B6)', async () => {
    expect(await ingress.send(await sign(`{"a":[${'{},'.repeat(1_000_000)}0]}`))).toMatchObject({
      status: 400,
      text: 'The body has more than 1000000 objects and arrays.',
    });
    await ingress.expectNothingStored();
    expect(await ingress.send(await sign({ zen: '[{'.repeat(1_000_000) }))).toMatchObject({
      status: 200,
    });
  });

  test('characters that JSONB cannot hold are replaced and the row says so; numbers keep their digits (B9)', async () => {
    const text = String.raw`{"zen":"a\u0000b\ud800c \ud83d\ude00","n":12345678901234567890.5}`;
    expect(await ingress.send(await sign(text))).toMatchObject({ status: 200 });
    expect(await ingress.send(await sign('{"n":1e999999,"m":12345678901234567890}'))).toMatchObject(
      { status: 200 },
    );
    const rows = await ingress.database.db
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
    expect(await ingress.send(await sign(job, { event: 'workflow_job' }))).toMatchObject({
      status: 200,
      text: 'job_stored',
    });
    expect(await ingress.database.db.selectFrom('jobs').select('job_name').execute()).toEqual([
      { job_name: 'a\ufffdb\ufffd' },
    ]);
  });
});

const KB = 1_024;
const MB = 1_024 * KB;

/** Longer than it takes to send all of it: no body ends by its own time here. */
const ENDLESS = { ingress: { ...PATIENT.ingress, bodyTimeoutMs: 300_000 } };

/** A few hundred KB, as a job with very many steps. */
const largeDelivery = (jobId: number) =>
  jobDelivery('queued', jobId, { name: 'x'.repeat(600_000) });

describe('unsigned bodies that never end', () => {
  let database: TestDatabase;
  let ingress: Ingress;
  let sockets: Socket[] = [];

  beforeAll(async () => {
    database = await createIngressDatabase();
  });
  beforeEach(async () => {
    ingress = await startIngress({
      url: database.url,
      schema: database.schema,
      rules: ENDLESS,
    });
    await ingress.untilReady();
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets = [];
    await ingress.end('SIGKILL');
  });
  afterAll(() => database.drop());

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

  const statuses = async (jobIds: readonly number[]) => {
    const answers: number[] = [];
    for (const jobId of jobIds)
      answers.push((await ingress.deliver(await jobDelivery('queued', jobId))).status);
    return answers;
  };

  // Each kind fills the room that the ones before it have left.
  test.each([
    [
      'large',
      [
        { count: 14, bytes: 24 * MB },
        { count: 20, bytes: MB },
        { count: 20, bytes: 64 * KB },
        { count: 20, bytes: 4 * KB },
      ],
    ],
    [
      'ordinary',
      [
        { count: 1_040, bytes: 256 * KB },
        { count: 20, bytes: 16 * KB },
        { count: 20, bytes: 4 * KB },
      ],
    ],
  ])(
    '%s ones leave signed deliveries their 200, at the settings that are the default (B5, B6)',
    async (_what, kinds) => {
      for (const { count, bytes } of kinds) {
        for (let sent = 0; sent < count; sent += 10)
          await Promise.all(Array.from({ length: 10 }, () => sendUnfinished(bytes)));
      }
      // The last ones may not be recognised as trickling yet.
      await waitFor('a delivery that is stored', async () => (await statuses([900]))[0] === 200);
      expect(await statuses([901, 902, 903, 904, 905])).toEqual([200, 200, 200, 200, 200]);
      await waitFor(
        'a large delivery that is stored',
        async () => (await ingress.deliver(await largeDelivery(906))).status === 200,
      );
      expect(await ingress.metric('paddock_held_bytes')).toBeLessThanOrEqual(256 * MB);
    },
  );
});

const CONFIG = `
github:
  apps:
    - { id: 7, webhookSecret: { env: SECRET_7 }, previousWebhookSecret: { env: OLD_SECRET_7 } }
    - { id: 8, webhookSecret: { env: SECRET_8 } }
    - { id: 9 }
pools:
  - { name: small, labels: [self-hosted, linux], image: runner:1, namespace: runners }
  - { name: k8s, labels: [self-hosted, k8s], image: runner:1, namespace: runners, publicRepositories: true }
entities: { '*': {} }
`;
const SECRETS = {
  SECRET_7: 'secret of 7',
  OLD_SECRET_7: 'older secret of 7',
  SECRET_8: 'secret of 8',
};
const LIMIT = 3_100_000;

const sign = (
  payload: unknown,
  more: {
    event?: string;
    secret?: string;
    appId?: number;
    guid?: string;
    headers?: Record<string, string>;
  } = {},
) => signedDelivery({ event: 'ping', payload, secret: SECRETS.SECRET_7, appId: 7, ...more });

const without = ({ headers, body }: SignedDelivery, name: string): SignedDelivery => ({
  headers: Object.fromEntries(Object.entries(headers).filter(([header]) => header !== name)),
  body,
});

const hmacOf = (body: string) =>
  `sha256=${createHmac('sha256', SECRETS.SECRET_7).update(body).digest('hex')}`;

type SignedIngress = Awaited<ReturnType<typeof startSignedIngress>>;

/** The service as a process, for three Apps, two of them with secrets. */
async function startSignedIngress() {
  const database = await createIngressDatabase(CONFIG);
  const { url, schema } = database;
  const rules = { ingress: { ...PATIENT.ingress, maxBodyBytes: LIMIT } };
  const ingress = await startIngress({ url, schema, config: CONFIG, env: SECRETS, rules });
  await ingress.untilReady();
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
  return {
    ...ingress,
    database,
    send,
    events,
    expectNothingStored,
    async forget(): Promise<void> {
      await database.db.deleteFrom('installation_events').execute();
      await database.db.deleteFrom('jobs').execute();
    },
    async stop(): Promise<void> {
      await ingress.end('SIGTERM');
      await database.drop();
    },
  };
}
