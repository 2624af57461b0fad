import { describe, expect, test } from '@jest/globals';
import { factsWith, secondsAgo } from '../scenes/wait-facts.scene.ts';
import { explainWait } from './explain-wait.ts';

describe('a job that has ended', () => {
  const at = secondsAgo(60);

  test.each(['failure', 'cancelled', null])(
    'names the worker that failed under it, where it ended with %s (G4)',
    (conclusion) => {
      const job = {
        status: 'completed',
        wantsWorker: false,
        conclusion,
        completedAt: at,
        podName: 'pd-linux-1',
        workerFailure: 'container runner ended with exit code 137 (OOMKilled).',
      } as const;
      expect(explainWait(factsWith({ job }))).toMatchObject({
        state: 'ended',
        actor: 'platform',
        sentence: expect.stringMatching(
          /\. Its worker pd-linux-1 failed: container runner ended with exit code 137 \(OOMKilled\)\.$/,
        ),
        advice: expect.stringContaining('the worker pd-linux-1'),
      });
    },
  );

  test('is not blamed on a worker that failed after it had succeeded', () => {
    const job = {
      status: 'completed',
      wantsWorker: false,
      conclusion: 'success',
      completedAt: at,
      podName: 'pd-linux-1',
      workerFailure: 'the node was lost',
    } as const;
    expect(explainWait(factsWith({ job }))).toMatchObject({
      actor: null,
      sentence: 'It ended at 2026-01-31T09:59:00Z with the conclusion success.',
    });
  });
});
