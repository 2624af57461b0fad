import { describe, expect, test } from '@jest/globals';
import type { Unreadable } from '@paddock/kube/logs';
import { anyCharacter, fc } from '@paddock/testing/random-cases';
import { examplePod } from '../scenes/settings.scene.ts';
import { diagnose, LARGEST_DIAGNOSIS_BYTES } from './diagnosis.ts';

const failed = { name: 'runner', state: 'terminated', exitCode: 1, reason: 'Error' } as const;
const pod = examplePod({
  phase: 'Failed',
  nodeName: 'n1',
  runner: failed,
  containers: [{ name: 'dind', state: 'terminated', exitCode: 0 }, failed],
  containersTerminated: true,
});
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
    ['nothing known', ''],
    [' ', ' Its log is empty: does the image start the runner?'],
    [unreadable('no rights'), ' Its log could not be read.'],
  ])('of one that GitHub does not see, with the log %j, it says so (P5)', (log, more) => {
    const logs = new Map([['runner', log]]);
    const running = { ...pod, phase: 'Running' as const };
    expect(diagnose(running, logs, unreadable('no rights'), 'not_registered')).toMatchObject({
      reason: 'not_registered',
      message: `The pod ran, but GitHub never called its runner online.${more}`,
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

  test('keeps the end of a long log from the beginning of a line, so that no credential is cut (D1)', () => {
    const log = `token ghs_${'a1B2'.repeat(9_000)}\nafter`;
    expect(diagnose(pod, new Map([['runner', log]]), []).containers[1]?.log).toBe('after');
  });

  test('hides credentials in logs, sentences and events (D1)', () => {
    const secret = `ghs_${'a1B2'.repeat(9)}`;
    const said = `before ${secret} after`;
    const made = diagnose({ ...pod, podMessage: said }, new Map([['runner', said]]), [event(said)]);
    const text = JSON.stringify(made);
    expect(text).not.toContain(secret);
    expect(text.match(/\[hidden\] after/g)).toHaveLength(3);
  });
});
