import { beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
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

/** The random number of a runner that does not die at its start. */
const LATER = 0.6;

describe('faults of runners', () => {
  beforeEach(() => {
    struck = [];
  });

  test('a runner that dies during its job ends as killed by the kernel', async () => {
    // With any fraction of a millisecond that the random number gives.
    expect(await play(busy, { dieRate: 0.1, dieWithinMs: 10 }, [0.09, LATER, 1 / 3])).toEqual({
      exitCode: DIED,
      log: ['busy'],
    });
    expect(struck).toEqual(['runner_died']);
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
});
