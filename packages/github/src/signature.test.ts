import { describe, expect, test } from '@jest/globals';
import { sign, verify } from '@octokit/webhooks-methods';
import { createHmac } from 'node:crypto';
import { probeGitHub } from './probe.ts';
import { NO_WAITS } from '@paddock/testing/stand-ins';
import { useSmallWorld } from './scenes/small-world.scene.ts';
import { isSigned } from './signature.ts';
import type { Waits } from '@paddock/domain/entities/waits';

const body = Buffer.from('{"action":"queued","name":"Prüfung ✓"}');
const secret = 'the current secret';

describe('isSigned (B1, B2)', () => {
  test.each([
    ['one', true],
    ['two', true],
    ['three', false],
  ])(
    'a signature by GitHub’s own library, with the secret %s of one and two: %s',
    async (given, fits) => {
      expect(await isSigned(body, await sign(given, body.toString()), ['one', 'two'])).toBe(fits);
    },
  );

  describe.each([
    ['bytes that are not valid UTF-8', Buffer.from([0xff, 0xfe, 0x00, 0x80])],
    ['no bytes', Buffer.alloc(0)],
    ['a byte order mark', Buffer.from('\ufeff{}')],
  ])('of %s', (_what, bytes) => {
    const right = `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`;

    test('accepts the right one alone', async () => {
      const others = [Buffer.from(bytes.toString()), Buffer.from('\ufffd'), body];
      expect(await isSigned(bytes, right, ['another', secret])).toBe(true);
      for (const other of others.filter((one) => !one.equals(bytes)))
        expect(await isSigned(other, right, [secret])).toBe(false);
      for (const header of [right.toUpperCase(), right.slice(0, -1), `${right}0`, 'sha256='])
        expect(await isSigned(bytes, header, [secret])).toBe(false);
    });
  });

  test('needs a way of its own for such bodies, as long as version 6.0.0 of the library takes none', async () => {
    expect(verify.VERSION).toBe('6.0.0');
    const bytes: unknown = Buffer.from([0xff]);
    await expect(verify(secret, bytes as string, 'sha256=')).rejects.toThrow('must be a string');
    await expect(verify(secret, '', 'sha256=')).rejects.toThrow('required');
  });

  test('refuses a signature of another secret or of another body', async () => {
    const signature = await sign(secret, body.toString());
    const another = await sign('another secret', body.toString());
    expect(await isSigned(body, another, [secret])).toBe(false);
    expect(await isSigned(Buffer.concat([body, Buffer.from(' ')]), signature, [secret])).toBe(
      false,
    );
  });

  const hex = createHmac('sha256', secret).update(body).digest('hex');
  test.each([
    ['a missing header', undefined],
    ['an empty header', ''],
    ['sha1', `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`],
    ['sha256 digits under the name sha1', `sha1=${hex}`],
    ['digits without the algorithm', hex],
    ['a truncated signature', `sha256=${hex.slice(0, 62)}`],
    ['a longer signature', `sha256=${hex}00`],
    ['something that is not hex', `sha256=${'z'.repeat(64)}`],
    ['upper case', `sha256=${hex.toUpperCase()}`],
    ['two signatures in one header', `sha256=${hex}, sha256=${hex}`],
  ])('refuses %s', async (_what, header) => {
    expect(await isSigned(body, header, [secret])).toBe(false);
  });

  test('does not start without a secret, or with an empty one', async () => {
    await expect(isSigned(body, `sha256=${hex}`, [])).rejects.toThrow('secret');
    await expect(isSigned(body, `sha256=${hex}`, [''])).rejects.toThrow('secret');
  });
});

const small = useSmallWorld();
const probe = (signal = new AbortController().signal) => probeGitHub(small.github, signal);

describe('a probe of GitHub (C11)', () => {
  test('is answered where GitHub answers, and asks about nobody’s installation', async () => {
    expect(await probe()).toBeUndefined();
    expect(await small.calls()).toEqual({ 'rate-limit/get': 1 });
  });

  test.each([401, 403, 404, 422, 429])('is answered with %i as well', async (status) => {
    await small.simulator.failNext({ path: '^/rate_limit$', status });
    expect(await probe()).toBeUndefined();
  });

  test.each([407, 500, 502, 503, undefined])('is not answered with %p', async (status) => {
    await small.simulator.failNext({ path: '^/rate_limit$', status });
    expect(await probe()).toEqual(expect.any(String));
  });

  test('may be repeated at once, although the outage named a wait', async () => {
    const noted: unknown[] = [];
    const note = (...wait: unknown[]) => Promise.resolve(void noted.push(wait));
    const github = small.connect({ waits: { ...NO_WAITS, note } });
    const headers = { 'retry-after': '3600' };
    await small.simulator.failNext({ path: '^/rate_limit$', status: 503, headers });
    expect(await probeGitHub(github, new AbortController().signal)).toEqual(expect.any(String));
    expect(noted).toEqual([]);
  });

  test('is not answered by a server that stays silent until the caller leaves', async () => {
    await small.simulator.failNext({ path: '^/rate_limit$', hang: true });
    expect(await probe(AbortSignal.timeout(50))).toEqual(expect.any(String));
  });

  test('asks as another App where one has to wait, and without credentials where all have to', async () => {
    const waiting = new Set([small.world.appId]);
    const patient = (appIds: readonly number[]) => ({
      appIds,
      asNobody: small.github.asNobody,
      asApp: (appId: number) =>
        waiting.has(appId)
          ? small.connect({ waits: WAITING }).asApp(small.world.appId)
          : small.github.asApp(small.world.appId),
    });
    const { signal } = new AbortController();
    expect(await probeGitHub(patient([small.world.appId, 2]), signal)).toBeUndefined();
    expect(await probeGitHub(patient([small.world.appId]), signal)).toBeUndefined();
    await small.simulator.failNext({ path: '^/rate_limit$', status: 503 });
    expect(await probeGitHub(patient([small.world.appId]), signal)).toEqual(expect.any(String));
  });
});

const WAITING: Waits = {
  left: () => Promise.resolve({ ms: 60_000, message: 'slow down' }),
  note: () => Promise.resolve(),
};
