import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { DIED, type RunnerFaults, withFaults } from './runner-faults.ts';

/** A runner that is busy until it is killed, as `playRunner` of the simulated GitHub reports it. */
const busy = async (_config: string, signal: AbortSignal) => {
  if (!signal.aborted) await once(signal, 'abort');
  return { exitCode: 143, log: ['busy'] };
};
const quick = () => Promise.resolve({ exitCode: 0, log: ['done'] });

const play = (playRunner: typeof busy | typeof quick, faults: RunnerFaults, draws: readonly number[], killed = new AbortController()) => {
  const left = [...draws];
  return withFaults(
    playRunner,
    () => faults,
    () => left.shift() ?? 0,
  )('config', killed.signal, () => undefined);
};

describe('faults of runners', () => {
  test('one that dies in its work ends as killed by the kernel', async () => {
    expect(await play(busy, { dieRate: 0.1, dieWithinMs: 10 }, [0.09, 0.5])).toEqual({ exitCode: DIED, log: ['busy'] });
  });

  test('one that was done before its death has ended well', async () => {
    expect(await play(quick, { dieRate: 0.1 }, [0.09, 0.5])).toEqual({ exitCode: 0, log: ['done'] });
  });

  test('one whose pod is deleted before its death was killed, and did not die', async () => {
    const killed = new AbortController();
    const played = play(busy, { dieRate: 1, dieWithinMs: 3_600_000 }, [0, 1], killed);
    killed.abort();
    expect(await played).toMatchObject({ exitCode: 143 });
  });

  test('a silent one does nothing until its pod is deleted', async () => {
    const killed = new AbortController();
    const played = play(quick, { dieRate: 0.1, silentRate: 0.1 }, [0.15], killed);
    killed.abort();
    expect(await played).toEqual({ exitCode: 143, log: [] });
  });

  test('the others live', async () => {
    expect(await play(quick, { dieRate: 0.1, silentRate: 0.1 }, [0.2])).toEqual({ exitCode: 0, log: ['done'] });
  });
});
