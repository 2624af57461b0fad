import { describe, expect, test } from '@jest/globals';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import fc from 'fast-check';
import { type ContainerLog, diagnose, LARGEST_DIAGNOSIS_BYTES } from './diagnosis.ts';

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
};

const event = (message: string) => ({ type: 'Warning', reason: 'Failed', message, count: 1, source: 'kubelet' });

describe('diagnose', () => {
  test('keeps per container the exit code, reason, message and log, and the pod’s and the cluster’s words (C8)', () => {
    const logs = new Map<string, ContainerLog>([
      ['runner', { text: 'last words' }],
      ['dind', { text: null, missing: 'the node is away' }],
    ]);
    expect(diagnose(pod, logs, [event('Back-off')])).toEqual({
      version: 2,
      reason: 'exit_code',
      message: 'container runner ended with exit code 1 (Error)',
      pod: { phase: 'Failed', reason: null, message: null, node: 'n1' },
      containers: [
        { name: 'dind', exitCode: 0, reason: null, message: null, log: null, logMissing: 'the node is away' },
        { name: 'runner', exitCode: 1, reason: 'Error', message: null, log: 'last words' },
      ],
      events: [event('Back-off')],
    });
  });

  test('the pod’s own reason stands before a container’s', () => {
    expect(diagnose({ ...pod, podReason: 'Evicted', podMessage: 'low on memory' }, new Map(), [])).toMatchObject({
      reason: 'evicted',
      message: 'Evicted: low on memory',
    });
  });

  test('fits into 64 KB whatever it is given, and holds only what JSONB takes (C8)', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.constantFrom('\0'.repeat(50_000), '\uD800'.repeat(30_000), 'ä€😀'.repeat(20_000), '"\\\n'.repeat(30_000)),
    );
    fc.assert(
      fc.property(anyText, anyText, fc.array(anyText, { maxLength: 40 }), (log, message, events) => {
        const diagnosis = diagnose({ ...pod, podMessage: message }, new Map([['runner', { text: log }]]), events.map(event));
        const json = JSON.stringify(diagnosis);
        expect(Buffer.byteLength(json)).toBeLessThanOrEqual(LARGEST_DIAGNOSIS_BYTES);
        expect(json).not.toMatch(/\\u0000|\\ud[89ab]/i);
      }),
      { numRuns: 60 },
    );
  });

  test('keeps the end of a long log', () => {
    const log = `${'early\n'.repeat(20_000)}the end`;
    const { containers } = diagnose(pod, new Map([['runner', { text: log }]]), []);
    expect(containers[1]?.log?.endsWith('the end')).toBe(true);
  });
});
