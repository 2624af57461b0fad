import type { Fault } from './fault.ts';
import type { Left } from './look-at.ts';
import { missingSigns, type Signs } from './signs.ts';

/** On a busy machine every fault delays some deliveries. */
const TOLD_LATE = 0.05;

/** The counts of a run, beside the remains of it. */
export interface Counted extends Pick<Left, 'excessWorkers' | 'unfoundedWorkers'> {
  readonly signs: Signs;
  readonly callsAgainstWait: number;
  /** The first of these calls. */
  readonly firstAgainstWait: readonly string[];
}

/**
 * The reasons why a run fails: results that its fault does not explain, or a fault that has not
 * struck.
 */
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
      ? [`${excessWorkers} workers were made in excess, and the fault explains ${allowed}`]
      : []),
    ...(unfoundedWorkers.length > 0
      ? [`no delivery had called for these workers: ${unfoundedWorkers.join(', ')}`]
      : []),
  ];
}
