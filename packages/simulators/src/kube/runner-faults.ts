import { once } from 'node:events';
import { evenShare } from '../even-share.ts';
import type { PlayRunner } from './kubelet.ts';

/** How often a runner does not do what it should. All absent: never. */
export interface RunnerFaults {
  /**
   * Share (0–1) of runners that die: half of them at their start, before they come to GitHub, the
   * others at some moment later.
   */
  readonly dieRate?: number | undefined;
  /** When the others die, at the latest, in milliseconds after their start; 1000 unless told. */
  readonly dieWithinMs?: number | undefined;
  /** Share (0–1) of runners that start and never come to GitHub. */
  readonly silentRate?: number | undefined;
  /** What these write to their logs before they fall silent. */
  readonly silentLog?: readonly string[] | undefined;
}

/** What a process killed by the kernel ends with. */
export const DIED = 137;
/** What a process that was asked to end ends with. */
const TERMINATED = 143;

/** What a fault has done to a runner. */
export type RunnerStrike = 'runner_died' | 'runner_died_at_start' | 'runner_silent';

interface Faulty {
  readonly faults: () => RunnerFaults;
  /** Gives [0, 1). */
  readonly random: () => number;
  readonly strike: (what: RunnerStrike) => void;
}

/** Plays runners, some of which meet what `faults` says at their start. */
export function withFaults(playRunner: PlayRunner, { faults, random, strike }: Faulty): PlayRunner {
  const dies = evenShare(random);
  const diesAtStart = evenShare(random);
  const isSilent = evenShare(random);
  return async (jitConfig, signal, onLine, container) => {
    const { dieRate = 0, dieWithinMs = 1000, silentRate = 0, silentLog = [] } = faults();
    if (dies(dieRate)) {
      if (!diesAtStart(0.5))
        return die(
          playRunner(jitConfig, limited(signal, random() * dieWithinMs), onLine, container),
          signal,
          strike,
        );
      strike('runner_died_at_start');
      return { exitCode: DIED, log: [] };
    }
    if (!isSilent(silentRate)) return playRunner(jitConfig, signal, onLine, container);
    strike('runner_silent');
    for (const line of silentLog) onLine(line);
    if (!signal.aborted) await once(signal, 'abort');
    return { exitCode: TERMINATED, log: silentLog };
  };
}

const limited = (signal: AbortSignal, ms: number): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(ms))]);

/** A runner that was quicker than its death has ended well. */
async function die(
  played: ReturnType<PlayRunner>,
  killed: AbortSignal,
  strike: Faulty['strike'],
): ReturnType<PlayRunner> {
  const { exitCode, log } = await played;
  if (exitCode === 0 || killed.aborted) return { exitCode, log };
  strike('runner_died');
  return { exitCode: DIED, log };
}
