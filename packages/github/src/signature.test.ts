import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { sign } from '@octokit/webhooks-methods';
import { isSigned } from './signature.ts';

const body = Buffer.from('{"action":"queued","name":"Prüfung ✓"}');
const secret = 'the current secret';

describe('isSigned (B1, B2)', () => {
  test('accepts a signature by GitHub’s own library, over the raw bytes', async () => {
    expect(isSigned(body, await sign(secret, body.toString()), [secret])).toBe(true);
  });

  test('accepts the previous secret during a rotation', async () => {
    expect(
      isSigned(body, await sign('the previous secret', body.toString()), [
        secret,
        'the previous secret',
      ]),
    ).toBe(true);
  });

  test('accepts bytes that are not valid UTF-8', () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80]);
    expect(
      isSigned(bytes, `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`, [
        secret,
      ]),
    ).toBe(true);
  });

  test('refuses a signature of another secret or of another body', async () => {
    expect(isSigned(body, await sign('another secret', body.toString()), [secret])).toBe(false);
    expect(
      isSigned(Buffer.concat([body, Buffer.from(' ')]), await sign(secret, body.toString()), [
        secret,
      ]),
    ).toBe(false);
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
  ])('refuses %s', (_what, header) => {
    expect(isSigned(body, header, [secret])).toBe(false);
  });

  test('does not start without a secret, or with an empty one', () => {
    expect(() => isSigned(body, `sha256=${hex}`, [])).toThrow('secret');
    expect(() => isSigned(body, `sha256=${hex}`, [''])).toThrow('secret');
  });
});
