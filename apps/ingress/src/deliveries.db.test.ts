import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { examplePayload } from '@paddock/testing/signed-delivery';
import { waitFor } from '@paddock/testing/wait-for';
import {
  definitions,
  LIMIT,
  SECRETS,
  sign,
  without,
  hmacOf,
  startSignedIngress,
  type SignedIngress,
} from './scenes/signed-ingress.scene.ts';

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

  test('a sha1 signature alone counts as none (B1)', async () => {
    const delivery = without(await sign({}), 'x-hub-signature-256');
    const sha1 = createHmac('sha1', SECRETS.SECRET_7).update(delivery.body).digest('hex');
    const headers = { ...delivery.headers, 'x-hub-signature': `sha1=${sha1}` };
    expect(await ingress.send({ ...delivery, headers })).toMatchObject({ status: 400 });
    await ingress.expectNothingStored();
  });

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
    const metrics = await (await fetch(`${ingress.health}/metrics`)).text();
    expect(metrics).toMatch(/paddock_newest_verified_delivery_timestamp_seconds\{app="8"\} \d/);
    expect(metrics).toMatch(/paddock_deliveries_total\{event="ping",outcome="ok"\} \d/);
  });

  test.each([
    '',
    'text',
    '[]',
    'null',
    '1',
    '{"a":',
    'payload=',
    'payload=%7B',
    '\u0000',
    '['.repeat(100_000),
    `${'['.repeat(600)}${']'.repeat(600)}`,
    `{"a":${'['.repeat(600)}${']'.repeat(600)}}`,
  ])(
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

  test('a body above the limit is 413, whether it says its length or not (B1)', async () => {
    const delivery = await sign(JSON.stringify({ text: 'x'.repeat(LIMIT) }));
    expect(await ingress.send(delivery)).toMatchObject({ status: 413 });
    const body = new Blob([delivery.body]).stream();
    const chunked = await fetch(ingress.base, {
      method: 'POST',
      headers: delivery.headers,
      body,
      duplex: 'half',
    });
    expect(chunked.status).toBe(413);
    await ingress.expectNothingStored();
    const largest = `{"text":"${'x'.repeat(LIMIT - 11)}"}`;
    expect(await ingress.send(await sign(largest))).toMatchObject({ status: 200 });
  });

  test('other methods are 405, other paths 404, and odd ones never 500 (B5)', async () => {
    const get = await fetch(`${ingress.base}/webhooks/github`);
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await fetch(`${ingress.base}/`, { method: 'PUT', body: 'x' })).status).toBe(405);
    expect((await fetch(`${ingress.base}/elsewhere`)).status).toBe(404);
    expect((await ingress.send(await sign({}), '/webhooks/github/x')).status).toBe(404);
    expect((await ingress.send(await sign({}), '/webhooks/github/')).status).toBe(404);
    expect((await ingress.send(await sign({}), '/webhooks/github?source=hook')).status).toBe(200);
    expect((await fetch(`${ingress.base}/%E0%A4%A`)).status).toBeLessThan(500);
    expect((await fetch(`${ingress.health}/healthz`)).status).toBe(200);
  });

  test('every example of the handled events is stored as it is, with an answer of 200 (A4, B3)', async () => {
    const sent: { event: string; payload: object }[] = [];
    for (const event of [
      'workflow_job',
      'installation',
      'installation_repositories',
      'ping',
      'push',
    ]) {
      for (const payload of definitions.find(({ name }) => name === event)?.examples ?? []) {
        sent.push({ event, payload });
        expect(await ingress.send(await sign(payload, { event }))).toMatchObject({ status: 200 });
      }
    }
    const rows = await ingress.events();
    expect(rows).toHaveLength(sent.length);
    const isWhole = rows.map(
      ({ payload }, index) =>
        JSON.stringify(payload).length === JSON.stringify(sent[index]?.payload).length,
    );
    const isIgnored = rows.map(({ outcome }) => outcome === 'ignored_no_label');
    expect(isWhole).toEqual(isIgnored.map((ignored) => !ignored));
    // Of the eight jobs, those labelled self-hosted and k8s fit a pool: one is queued, the same one
    // waits for an approval.
    const outcomes = rows.slice(0, 8).map(({ outcome }) => outcome);
    expect(outcomes).toEqual([
      ...Array.from({ length: 6 }, () => 'ignored_no_label'),
      'job_stored',
      'job_waiting',
    ]);
    expect(rows.at(-1)).toMatchObject({ event: 'push', outcome: 'ignored_event' });
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

  test('bytes that are no UTF-8 are replaced and the row says so (B9)', async () => {
    const body = Buffer.concat([
      Buffer.from('{"zen":"a'),
      Buffer.from([0xff, 0xed, 0xa0, 0x80]),
      Buffer.from('é"}'),
    ]);
    const signature = `sha256=${createHmac('sha256', SECRETS.SECRET_7).update(body).digest('hex')}`;
    const { headers } = await sign('unsigned', { headers: { 'x-hub-signature-256': signature } });
    expect((await fetch(ingress.base, { method: 'POST', headers, body })).status).toBe(200);
    const [row] = await ingress.events();
    expect(row).toMatchObject({
      payload: { zen: 'a\ufffd\ufffd\ufffd\ufffdé' },
      payload_repaired: true,
    });
  });

  test('a hundred deliveries at once, twice each, are one job each and one event each (A5, B6)', async () => {
    const deliveries = await Promise.all(
      Array.from({ length: 100 }, (_, index) => {
        const changes = {
          workflow_job: { id: 1_000 + (index % 50), labels: ['linux'] },
          repository: { private: true },
        };
        return sign(examplePayload('workflow_job', 'queued', changes), {
          event: 'workflow_job',
          guid: `guid-${index % 50}`,
        });
      }),
    );
    const answers = await Promise.all(deliveries.map((delivery) => ingress.send(delivery)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(answers.filter(({ text }) => text === 'job_stored')).toHaveLength(50);
    expect(answers.filter(({ text }) => text === 'job_already_exists')).toHaveLength(50);
    expect(await ingress.events()).toHaveLength(100);
  });
});
