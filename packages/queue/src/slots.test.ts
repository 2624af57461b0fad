import { expect, test } from '@jest/globals';
import type { HeldTask } from './heartbeat.ts';
import { runOf } from './run-handler.ts';
import { createSlots } from './slots.ts';

const entry = (claimedAt: number): HeldTask => {
  const task = { kind: 'a' } as HeldTask['task'];
  const run = runOf(() => new Promise(() => undefined), task, 60_000);
  const never = { startedAt: undefined, endedAt: undefined };
  return { task, run, claimedAt, claim: {} as HeldTask['claim'], renewal: { sentAt: 0 }, ...never };
};

/** Two slots, of which `many` runs of `ms` each end one after the other. */
function afterRuns(many: number, ms: number) {
  let at = 0;
  const slots = createSlots({ a: 2, b: 1 }, () => at);
  for (let n = 0; n < many; n++) {
    const one = entry(at);
    slots.add(one);
    at += ms;
    slots.remove(one);
    one.run.interrupt('timeout');
  }
  return { slots, pass: (more: number) => void (at += more), now: () => at };
}

test.each([
  ['no task has ended', 0, 0, 2],
  ['tasks take a second', 10, 1_000, 2],
  ['tasks take 2 ms', 100, 2, 2 + 25],
  ['tasks take no time', 10_000, 0.001, 2 + 500],
])('where %s, as many are claimed as end within 50 ms (D3)', (_where, many, ms, room) => {
  expect(afterRuns(many, ms).slots.room()).toEqual([
    ['a', room],
    ['b', 1],
  ]);
});

test('a claimed task begins when a slot is free, in order, and is given back where none gets free (D7)', () => {
  const { slots, pass, now } = afterRuns(100, 2);
  const all = [entry(now()), entry(now()), entry(now()), entry(now())] as const;
  const [first, second, third, fourth] = all;
  expect(all.map(slots.add)).toEqual([1, 2, 2, 2]);
  expect(slots.waiting()).toEqual([third, fourth]);
  pass(10);
  expect(slots.remove(first)).toBe(2);
  expect([slots.waiting(), third.startedAt]).toEqual([[fourth], now()]);
  expect(slots.overdue()).toEqual([]);
  pass(1_000);
  expect(slots.overdue()).toEqual([fourth]);
  expect(slots.remove(fourth)).toBe(2);
  expect(slots.waiting()).toEqual([]);
  for (const one of [first, second, third]) one.run.interrupt('timeout');
});

test('runs that wait for something silent lend their slots, to twice as many (P6)', () => {
  const { slots, pass, now } = afterRuns(0, 0);
  const started: HeldTask[] = [];
  const fill = (): number => {
    const room = slots.room().find(([kind]) => kind === 'a')?.[1] ?? 0;
    const more = Array.from({ length: room }, () => entry(now()));
    for (const one of more) slots.add(one);
    started.push(...more);
    return started.filter(({ startedAt }) => startedAt !== undefined).length;
  };
  const running: number[] = [];
  for (let round = 0; round < 4; round++) {
    running.push(fill());
    pass(3_001);
  }
  expect(running).toEqual([2, 4, 6, 6]);
  for (const one of started.slice(0, 3)) slots.remove(one);
  expect(fill()).toBe(8);
  for (const one of started) one.run.interrupt('timeout');
});
