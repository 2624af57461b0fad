import { describe, expect, test } from '@jest/globals';
import type { Unreadable } from '@paddock/kube/logs';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { anyCharacter, fc } from '@paddock/testing/random-cases';
import { diagnose, LARGEST_DIAGNOSIS_BYTES } from './diagnosis.ts';

const failed = { name: 'runner', state: 'terminated', exitCode: 1, reason: 'Error' } as const;
const pod: ObservedPod = {
  name: 'pdk-abc123-linux-0123456789ab',
  namespace: 'runners',
  uid: 'uid',
  resourceVersion: '1',
  phase: 'Failed',
  createdAt: new Date(0),
  nodeName: 'n1',
  runner: failed,
  containers: [{ name: 'dind', state: 'terminated', exitCode: 0 }, failed],
  containersTerminated: true,
  conditions: [],
};
const unreadable = (message: string): Unreadable => ({ unreadable: { kind: 'network', message } });

const event = (message: string) => ({
  type: 'Warning',
  reason: 'Failed',
  message,
  count: 1,
  source: 'kubelet',
});

describe('diagnose', () => {
  test('keeps per container the exit code, reason, message and log, and the pod’s and the cluster’s words (C8)', () => {
    const logs = new Map<string, string | Unreadable>([
      ['runner', 'last words'],
      ['dind', unreadable('the node is away')],
    ]);
    expect(diagnose(pod, logs, [event('Back-off')])).toEqual({
      version: 2,
      reason: 'exit_code',
      message: 'container runner ended with exit code 1 (Error)',
      pod: { phase: 'Failed', reason: null, message: null, node: 'n1', conditions: [] },
      containers: [
        {
          name: 'dind',
          exitCode: 0,
          reason: null,
          message: null,
          log: null,
          logMissing: 'the node is away',
        },
        { name: 'runner', exitCode: 1, reason: 'Error', message: null, log: 'last words' },
      ],
      events: [event('Back-off')],
    });
  });

  test('where the runner failed before GitHub saw it, its own log says why (P5)', () => {
    const logs = new Map([['runner', 'exec /home/runner/run.sh: exec format error']]);
    expect(diagnose(pod, logs, []).message).toMatch(
      /^container runner ended with exit code 1 \(Error\)\. Its log shows a program for/,
    );
  });

  test.each([
    ['nothing known', 'The pod ran, but GitHub never called its runner online.'],
    [
      ' ',
      'The pod ran, but GitHub never called its runner online. Its log is empty: does the image start the runner?',
    ],
    [
      unreadable('no rights'),
      'The pod ran, but GitHub never called its runner online. Its log could not be read.',
    ],
  ])('of one that GitHub does not see, with the log %j, it says so (P5)', (log, message) => {
    const running = { ...pod, phase: 'Running' as const };
    expect(
      diagnose(running, new Map([['runner', log]]), unreadable('no rights'), 'not_registered'),
    ).toMatchObject({
      reason: 'not_registered',
      message,
      events: [],
      eventsMissing: 'no rights',
    });
  });

  test('always fits into 64 KB, and contains only characters that JSONB accepts (C8)', () => {
    const anyText = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 200 }),
      fc.constantFrom(
        '\0'.repeat(50_000),
        '\uD800'.repeat(30_000),
        'ä€😀'.repeat(20_000),
        '"\\\n'.repeat(30_000),
      ),
    );
    fc.assert(
      fc.property(
        anyText,
        anyText,
        fc.array(anyText, { maxLength: 40 }),
        (log, message, events) => {
          const diagnosis = diagnose(
            { ...pod, podMessage: message },
            new Map([['runner', log]]),
            events.map(event),
          );
          const json = JSON.stringify(diagnosis);
          expect(Buffer.byteLength(json)).toBeLessThanOrEqual(LARGEST_DIAGNOSIS_BYTES);
          expect(json).not.toMatch(/\\u0000|\\ud[89ab]/i);
        },
      ),
      { numRuns: 60 },
    );
  });

  test.each([
    ['a GitHub token', `ghs_${'a1B2'.repeat(9)}`],
    [
      'a GitHub token of the newer form',
      `ghs_4711_eyJhbGci.${'a1B2-'.repeat(9)}.${'c3D4_'.repeat(9)}`,
    ],
    ['a fine-grained token', `github_pat_${'a1B2'.repeat(12)}`],
    ['a JIT config', Buffer.from('{"runner":"secret"}').toString('base64')],
    ['a JSON Web Token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.c2lnbmF0dXJl'],
    ['a password in a header', 'hunter2hunter2hunter2'],
    ['a private key', 'MIIEowIBAAKCAQEAsecret'],
  ])('%s is kept nowhere in it (D1)', (_what, secret) => {
    const said = `before -----BEGIN RSA PRIVATE KEY-----\n${secret}\n-----END RSA PRIVATE KEY----- Authorization: Bearer ${secret} after`;
    const bare =
      secret.startsWith('MII') || secret.startsWith('hunter') ? said : `${said} ${secret}`;
    const text = JSON.stringify(
      diagnose({ ...pod, podMessage: bare }, new Map([['runner', bare]]), [event(bare)]),
    );
    expect(text).not.toContain(secret);
    expect(text).toContain('after');
  });
});
