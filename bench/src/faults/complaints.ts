import type { Fault } from './fault.ts';
import type { Left } from './look-at.ts';
import { missingSigns, type Signs } from './signs.ts';

/** On a busy machine every fault delays some of what we hear. */
const TOLD_LATE = 0.05;

/** What was counted in a run, beside what is left of it. */
export interface Counted extends Pick<Left, 'excessWorkers' | 'unfoundedWorkers'> {
  readonly signs: Signs;
  readonly callsAgainstWait: number;
  /** The first of these calls. */
  readonly firstAgainstWait: readonly string[];
}

/** Why a run fails, in words: what its fault does not account for, or that it has not struck. */
export function complaintsOf(
  {
    signs: wanted,
    excess = TOLD_LATE,
    lostWaits = 0,
  }: Pick<Fault, 'signs' | 'excess' | 'lostWaits'>,
  jobs: number,
  counted: Counted,
): string[] {
  const { signs, callsAgainstWait, firstAgainstWait, excessWorkers, unfoundedWorkers } = counted;
  const allowed = Math.ceil(jobs * excess);
  return [
    ...missingSigns(wanted, signs),
    ...(callsAgainstWait > lostWaits
      ? [`${callsAgainstWait} calls against a Retry-After: ${firstAgainstWait.join(', ')}`]
      : []),
    ...(excessWorkers > allowed
      ? [`${excessWorkers} workers were made in excess, and the fault accounts for ${allowed}`]
      : []),
    ...(unfoundedWorkers.length > 0
      ? [`nothing we had been told called for these workers: ${unfoundedWorkers.join(', ')}`]
      : []),
  ];
}
