import { describe, expect, test } from '@jest/globals';
import { fc } from '@paddock/testing/random-cases';
import { bodyDigest, reduceJobPayload } from './delivery-bodies.ts';
import { HANDLED_EVENTS, parseDelivery, whyMisnamed } from './parse-delivery.ts';
import { quoteHugeNumbers } from '../text/storable.ts';
import { definitions } from '../scenes/deliveries.scene.ts';

const examples = definitions.flatMap(({ name, examples: of }) =>
  of.map((body) => ({ name, body })),
);
const bodiesOf = (event: string) =>
  examples.filter(({ name }) => name === event).map(({ body }) => body);

describe('an event that does not fit its body', () => {
  test('is none of those that GitHub sends, of any kind', () => {
    expect(examples.length).toBeGreaterThan(200);
    expect(examples.filter(({ name, body }) => whyMisnamed(name, body) !== undefined)).toEqual([]);
  });

  const ofInstallations = ['installation', 'installation_repositories', 'installation_target'];
  test.each([...ofInstallations, 'ping', 'push', 'made_up_event', 'auth_attempt'])(
    'a job as %s is refused',
    (event) => {
      const problem = `it is called ${event}, but the body is a workflow_job payload`;
      for (const body of bodiesOf('workflow_job'))
        expect(parseDelivery(event, body)).toEqual({ kind: 'malformed', problem });
    },
  );

  test.each(['workflow_job', ...ofInstallations])(
    'no body of another event is kept as %s, which is kept for ever or makes demand',
    (event) => {
      // What says nothing of a job's course is only recorded, and for a while.
      const harmless = event === 'workflow_job' ? ['malformed', 'noted'] : ['malformed'];
      const harmful = examples.filter(
        ({ name, body }) => name !== event && !harmless.includes(parseDelivery(event, body).kind),
      );
      expect(harmful).toEqual([]);
    },
  );

  test('a body that only mentions an installation, as all of an App do, is no event of installations', () => {
    const mention = { action: 'created', installation: { id: 1, node_id: 'x' } };
    expect(parseDelivery('star', mention)).toMatchObject({ kind: 'noted' });
    expect(parseDelivery('installation', mention)).toMatchObject({ kind: 'malformed' });
    expect(
      parseDelivery('installation_repositories', { ...mention, repositories_added: [] }),
    ).toMatchObject({ kind: 'malformed' });
  });

  const of = { account: {} };
  test.each([
    ['installation', { installation: of }, true],
    ['installation', { installation: { app_id: 1 } }, true],
    ['installation', { installation: null }, false],
    ['installation', { installation: 'x' }, false],
    ['installation', {}, false],
    ['installation', { installation: of, repositories_added: [] }, false],
    ['installation', { installation: of, repositories_removed: [] }, false],
    ['installation_repositories', { installation: of, repositories_added: [] }, true],
    ['installation_repositories', { installation: of, repositories_removed: [] }, true],
    ['installation_repositories', { installation: of }, false],
  ])('%s may be the event of %j: %s', (event, body, fits) => {
    expect(whyMisnamed(event, body) === undefined).toBe(fits);
  });

  test('every handled event has an example here', () => {
    const named = new Set(examples.map(({ name }) => name));
    expect(HANDLED_EVENTS.filter((event) => !named.has(event))).toEqual(['installation_target']);
  });
});

const digest = (body: Buffer | string, { appId = 1, event = 'workflow_job' } = {}): string =>
  bodyDigest({ appId, event }, body);

describe('the digest of a body', () => {
  test('is the same for the same bytes, and fits into a UUID', () => {
    expect(digest('{"a":1}')).toBe(digest(Buffer.from('{"a":1}')));
    expect(digest('{}')).toMatch(/^[0-9a-f]{32}$/);
  });

  test('differs for each body, App and event that is handled', () => {
    const digests = [
      digest('{}'),
      digest('{ }'),
      digest('{}', { appId: 2 }),
      digest('{}', { event: 'installation' }),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });

  test('is the same under all names of events that are not handled, which anyone can make up', () => {
    expect(digest('{}', { event: 'push' })).toBe(digest('{}', { event: 'made-up' }));
    expect(digest('{}', { event: 'push' })).not.toBe(digest('{}'));
  });

  test('lets no App speak with the number and body of another', () => {
    expect(digest('other\nx', { event: 'push' })).not.toBe(digest('x', { event: 'push' }));
  });
});

describe('quoteHugeNumbers', () => {
  test.each([
    ['{"n":1e999999}', '{"n":"1e999999"}'],
    [
      '[-1.5E+2000,12345678901234567890.50,1e1000,0]',
      '["-1.5E+2000",12345678901234567890.50,1e1000,0]',
    ],
    [
      `{"1e9999":"1e9999 \\" 1e9999","\\\\":1e-9999}`,
      `{"1e9999":"1e9999 \\" 1e9999","\\\\":"1e-9999"}`,
    ],
    ['9'.repeat(1_001), `"${'9'.repeat(1_001)}"`],
    ['9'.repeat(1_000), '9'.repeat(1_000)],
    [`"${'x'.repeat(2_000)}"`, `"${'x'.repeat(2_000)}"`],
    ['1.55e9999', '"1.55e9999"'],
    ['1', '1'],
    ['{}', '{}'],
  ])('%s', (json, expected) => {
    expect(quoteHugeNumbers(json)).toBe(expected);
  });

  test('JSON without such numbers stays as it is (B9)', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(quoteHugeNumbers(json)).toBe(json);
      }),
    );
  });
});

describe('reduceJobPayload', () => {
  test('every example shrinks to a fifth or less and still reads as the same delivery (A4, B4)', () => {
    for (const example of definitions.find(({ name }) => name === 'workflow_job')?.examples ?? []) {
      const full = JSON.stringify(example);
      const reduced = reduceJobPayload(example, full.length);
      expect(reduced.length).toBeLessThan(full.length / 5);
      expect(parseDelivery('workflow_job', JSON.parse(reduced))).toEqual(
        parseDelivery('workflow_job', example),
      );
      expect(JSON.parse(reduced)).toMatchObject({ reduced_from: { bytes: full.length } });
    }
  });

  test('a body without an installation still reads as the same delivery (A4)', () => {
    const [example] = bodiesOf('workflow_job');
    for (const installation of [null, undefined]) {
      const body = { ...(example as object), installation };
      const whole = parseDelivery('workflow_job', body);
      expect(whole).toMatchObject({ installationId: null });
      expect(parseDelivery('workflow_job', JSON.parse(reduceJobPayload(body, 9)))).toEqual(whole);
    }
  });

  test('a job’s requirements stay, and the number of its steps (A4)', () => {
    const needed = { id: 1, run_attempt: 2, status: 'queued', labels: [] };
    const job = { ...needed, steps: [{}, {}], head_sha: 'x' };
    const sender = { id: 3, login: 'mona', type: 'User', url: 'x' };
    const installation = { id: 4, node_id: 'x' };
    const payload = { action: 'queued', workflow_job: job, sender, installation };
    expect(JSON.parse(reduceJobPayload(payload, 9))).toEqual({
      action: 'queued',
      workflow_job: needed,
      repository: { owner: {} },
      installation: { id: 4 },
      sender: { id: 3, login: 'mona', type: 'User' },
      reduced_from: { bytes: 9, steps: 2 },
    });
  });

  test('unexpected content of a field is cut, and no number is rounded (A4)', () => {
    const job = {
      id: 1,
      status: { nested: 12345678901234567890n },
      created_at: 2 ** 60,
      labels: ['linux'],
      runner_name: null,
    };
    const sender = { id: 2 ** 53, login: 'a' };
    const payload = { action: 'queued', workflow_job: job, sender };
    const reduced: unknown = JSON.parse(reduceJobPayload(payload, 9));
    expect(reduced).toMatchObject({
      workflow_job: { id: 1, labels: ['linux'], runner_name: null },
      sender: { login: 'a' },
    });
    expect(JSON.stringify(reduced)).not.toMatch(/status|created_at|9007199254740992/);
  });
});
