import { expect, test } from '@jest/globals';
import type { PassPlan } from '../matching/plan-pass.ts';
import { demandOf, reservationOf, returnableOf, snapshotOf } from '../scenes/snapshot.scene.ts';
import { workersAfter } from './raise-cap.ts';

const snapshot = snapshotOf({
  demand: [demandOf(20, { unassigned: 16 }), demandOf(10, { unassigned: 4 })],
  reservations: [
    reservationOf('b', 20),
    reservationOf('a1', 10),
    reservationOf('a2', 10),
    reservationOf('a3', 10, { stopping: true }),
  ],
  returnable: [
    returnableOf('r1', 10),
    returnableOf('r2', 10),
    returnableOf('r3', 10),
    returnableOf('s', 20),
  ],
});

const making = (demandKey: number, count: number): PassPlan['make'][number] => ({
  demandKey,
  entityId: 1,
  scopeRepoId: 0,
  pool: 'linux',
  installationId: 101,
  count,
});

const NOTHING: PassPlan = {
  takeBack: [],
  giveBack: [],
  make: [],
  stop: [],
  warm: { mark: [], renew: [], make: [] },
  states: [],
  lacking: 0,
};

test.each<[string, Partial<PassPlan>, number]>([
  ['those it has, if the pass leaves it alone', {}, 4],
  ['those that are made for it', { make: [making(20, 64), making(10, 8)] }, 12],
  ['its own that serve again', { takeBack: ['s', 'r1', 'r3'] }, 6],
  ['not its own that go', { giveBack: ['b', 'a1'] }, 3],
  ['no less for one that was stopping before it goes', { giveBack: ['a3', 'a2'] }, 3],
  ['all of that', { make: [making(10, 8)], takeBack: ['r1', 'r2'], giveBack: ['a1'] }, 13],
])('after a pass a key has %s (P5)', (_what, plan, workers) => {
  expect(workersAfter(snapshot, { ...NOTHING, ...plan }, 10)).toBe(workers);
});

test('a key that the pass does not know has no workers after it (P5)', () => {
  expect(workersAfter(snapshot, { ...NOTHING, make: [making(10, 8)] }, 30)).toBe(0);
});
