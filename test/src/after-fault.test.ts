import { waitedAfter } from '@paddock/bench/faults/after-fault';
import type { JobTruth } from '@paddock/simulators/github/control';
import { describe, expect, test } from '@jest/globals';

const NOON = Date.UTC(2026, 0, 1, 12);
/** An instant, in seconds after noon. */
const at = (seconds: number) => NOON + seconds * 1_000;

type Taken = Pick<JobTruth, 'id' | 'leftQueueAt' | 'conclusion' | 'runnerName'>;
/** A job whose runner took it this many seconds after noon. */
const taken = (id: number, seconds: number): Taken => ({
  id,
  leftQueueAt: new Date(at(seconds)).toISOString(),
  conclusion: null,
  runnerName: 'a-runner',
});

/** Queued five seconds before noon by default. */
const waited = (jobs: readonly Taken[], queued: Readonly<Record<number, number>> = {}) =>
  waitedAfter(NOON, new Map(jobs.map(({ id }) => [id, queued[id] ?? at(-5)])), jobs);

describe('how long jobs waited for a runner after a fault (P1)', () => {
  test('counts those that had none when it was over, in order', () => {
    expect(waited([taken(1, 4.25), taken(2, 0.5), taken(3, -1)])).toEqual([0.5, 4.25]);
  });

  test('counts none that was queued later, and none that was cancelled before it began', () => {
    const cancelled: Taken = { ...taken(2, 3), conclusion: 'cancelled', runnerName: null };
    expect(waited([taken(1, 2), cancelled], { 1: at(1) })).toEqual([]);
  });

  test('says of a job that never had one that it waits for ever', () => {
    expect(waited([{ ...taken(1, 0), leftQueueAt: null, runnerName: null }])).toEqual([Infinity]);
  });

  test('says nothing where nothing came back', () => {
    expect(waitedAfter(undefined, new Map([[1, at(-5)]]), [taken(1, 2)])).toEqual([]);
  });
});
