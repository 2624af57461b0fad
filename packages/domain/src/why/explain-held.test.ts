import { expect, test } from '@jest/globals';
import { factsWith, secondsAgo, workerWith } from '../scenes/wait-facts.scene.ts';
import { explainWait } from './explain-wait.ts';

const stuck = { name: 'pd-linux-9', hasPod: true, stuckReason: 'image_pull' };
const cap = {
  kind: 'at_pool_cap',
  name: 'maxWorkers of the pool linux',
  used: 1,
  limit: 1,
} as const;

test('names the worker that keeps its place under the cap and does not go, before any that does not start (P5)', () => {
  const held = ['pdk-1', 'pdk-2'].map((name, nth) => ({
    name,
    entityId: 90_000_001,
    pool: 'linux',
    scopeRepoId: 0,
    heldBy: 'its pod is being deleted, and is still there.',
    since: secondsAgo(600 - nth),
  }));
  const caps = [{ ...cap, held }];
  expect(
    explainWait(factsWith({ reason: 'at_pool_cap', caps, workers: [workerWith(stuck)] })),
  ).toMatchObject({
    reason: 'at_pool_cap',
    actor: 'platform',
    sentence:
      'maxWorkers of the pool linux is 1, and 1 worker is there. 2 of them do not go: pdk-1 since 2026-01-31T09:50:00Z, because its pod is being deleted, and is still there.',
    advice: 'Look at the worker pdk-1: its pod, its node and its log.',
    caps: [{ name: 'maxWorkers of the pool linux', used: 1, limit: 1 }],
  });
});
