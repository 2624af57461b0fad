import { expect, test } from '@jest/globals';
import { NOW, secondsAgo, workerWith } from '../scenes/wait-facts.scene.ts';
import type { WorkerFacts } from './wait-facts.ts';
import { workersOnTheirWay, workerState } from './worker-progress.ts';

const ready = { hasBegunRegistration: true, isRegistered: true, hasPod: true, isRunning: true };

test.each<[string, Partial<WorkerFacts>]>([
  ['reserved', {}],
  ['registering', { hasBegunRegistration: true }],
  ['registered', { hasBegunRegistration: true, isRegistered: true }],
  ['starting', { hasPod: true }],
  ['ready', ready],
  ['offline', { ...ready, isOffline: true }],
  ['no_node', { hasPod: true, isUnschedulable: true }],
  ['no_node', { hasPod: true, isUnschedulable: true, stuckReason: 'unschedulable' }],
  ['stuck', { hasPod: true, stuckReason: 'image_pull' }],
  ['stuck', { ...ready, stuckReason: 'terminating' }],
  ['stopping', { ...ready, isStopping: true }],
])('a worker is %s (P5)', (state, given) => {
  expect(workerState(workerWith(given))).toBe(state);
});

test('the readiest worker comes first, then the oldest, each with what is wrong (P5)', () => {
  const workers = [
    workerWith({ name: 'young', createdAt: secondsAgo(10) }),
    workerWith({ name: 'oldest', createdAt: secondsAgo(30) }),
    workerWith({ name: 'old', createdAt: secondsAgo(20) }),
    workerWith({ name: 'stuck', stuckReason: 'image_pull', diagnosis: 'ErrImagePull' }),
    workerWith({ ...ready, name: 'ready', createdAt: secondsAgo(1) }),
  ];
  const reserved = { state: 'reserved', detail: 'its registration has not begun' };
  expect(workersOnTheirWay(workers, NOW)).toEqual([
    {
      name: 'ready',
      state: 'ready',
      detail: 'its pod runs, and GitHub can give it a job',
      ageMs: 1_000,
    },
    { ...reserved, name: 'oldest', ageMs: 30_000 },
    { ...reserved, name: 'old', ageMs: 20_000 },
    { ...reserved, name: 'young', ageMs: 10_000 },
    {
      name: 'stuck',
      state: 'stuck',
      detail: 'its pod does not start, or does not go (image_pull: ErrImagePull)',
      ageMs: 10_000,
    },
  ]);
});
