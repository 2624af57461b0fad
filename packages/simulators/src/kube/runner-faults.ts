import { once } from 'node:events';
import { evenShare } from '../random.ts';
import type { PlayRunner } from './kubelet.ts';

/** How often a runner fails. All absent: never. */
export interface RunnerFaults {
  /**
   * Share (0–1) of runners that die: half of them at their start, before they connect to GitHub,
   * the others at some later moment.
   */
  readonly dieRate?: number | undefined;
  /**
   * When the others die, at the latest, in milliseconds after their start; 1000 by default. 0: all
   * die at their start.
   */
  readonly dieWithinMs?: number | undefined;
  /** Share (0–1) of runners that start and never connect to GitHub. */
  readonly silentRate?: number | undefined;
  /** The log lines of these before they fall silent. */
  readonly silentLog?: string[] | undefined;
}

/** The exit code of a process that the kernel killed. */
export const DIED = 137;
/** The exit code of a process after a request to end. */
const TERMINATED = 143;

/** One strike of a fault. */
export type RunnerStrike = 'runner_died' | 'runner_died_at_start' | 'runner_silent';

interface Faulty {
  readonly faults: () => RunnerFaults;
  /** Gives [0, 1). */
  readonly random: () => number;
  readonly strike: (what: RunnerStrike) => void;
}

/** Plays runners, some of them with the faults of `faults`. */
export function withFaults(playRunner: PlayRunner, { faults, random, strike }: Faulty): PlayRunner {
  const dies = evenShare(random);
  const diesAtStart = evenShare(random);
  const isSilent = evenShare(random);
  return async (jitConfig, signal, onLine, container) => {
    const { dieRate = 0, dieWithinMs = 1000, silentRate = 0, silentLog = [] } = faults();
    if (dies(dieRate)) {
      if (!diesAtStart(dieWithinMs === 0 ? 1 : 0.5))
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

/** A runner that ended before its death has ended well. */
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
