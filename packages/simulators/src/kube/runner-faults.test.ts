import { once } from 'node:events';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { DIED, type RunnerFaults, withFaults } from './runner-faults.ts';

/** A runner that is busy until it is killed, as `playRunner` of the simulated GitHub reports it. */
const busy = async (_config: string, signal: AbortSignal) => {
  if (!signal.aborted) await once(signal, 'abort');
  return { exitCode: 143, log: ['busy'] };
};
const quick = () => Promise.resolve({ exitCode: 0, log: ['done'] });

let struck: string[];

const play = (
  playRunner: typeof busy | typeof quick,
  faults: RunnerFaults,
  draws: readonly number[],
  killed = new AbortController(),
) => {
  const left = [...draws];
  const played = withFaults(playRunner, {
    faults: () => faults,
    random: () => left.shift() ?? 0,
    strike: (what) => void struck.push(what),
  });
  return played('config', killed.signal, () => undefined, { image: 'runner:1', env: {} });
};

/** Random numbers for a runner that dies: at its start, or later. */
const AT_START = 0.4;
const LATER = 0.6;

describe('faults of runners', () => {
  beforeEach(() => {
    struck = [];
  });

  // With any fraction of a millisecond that the random number gives.
  test.each([0, 0.5, 1 / 3, 0.99999])(
    'a runner that dies during its job ends as killed by the kernel (%d)',
    async (draw) => {
      expect(await play(busy, { dieRate: 0.1, dieWithinMs: 10 }, [0.09, LATER, draw])).toEqual({
        exitCode: DIED,
        log: ['busy'],
      });
      expect(struck).toEqual(['runner_died']);
    },
  );

  test('a runner that dies at its start has done nothing', async () => {
    expect(await play(quick, { dieRate: 0.1 }, [0.09, AT_START])).toEqual({
      exitCode: DIED,
      log: [],
    });
    expect(struck).toEqual(['runner_died_at_start']);
  });

  test('a runner that ended before its death has ended well', async () => {
    expect(await play(quick, { dieRate: 0.1 }, [0.09, LATER, 0.5])).toEqual({
      exitCode: 0,
      log: ['done'],
    });
    expect(struck).toEqual([]);
  });

  test('a runner whose pod is deleted before its death was killed, and did not die', async () => {
    const killed = new AbortController();
    const played = play(busy, { dieRate: 1, dieWithinMs: 3_600_000 }, [0, LATER, 1], killed);
    killed.abort();
    expect(await played).toMatchObject({ exitCode: 143 });
  });

  test('a silent runner does nothing until its pod is deleted', async () => {
    const killed = new AbortController();
    const played = play(quick, { dieRate: 0.1, silentRate: 0.1 }, [0.5, 0.09], killed);
    killed.abort();
    expect(await played).toEqual({ exitCode: 143, log: [] });
    expect(struck).toEqual(['runner_silent']);
  });

  test('the other runners live', async () => {
    expect(await play(quick, { dieRate: 0.1, silentRate: 0.1 }, [0.5, 0.5])).toEqual({
      exitCode: 0,
      log: ['done'],
    });
  });
});
