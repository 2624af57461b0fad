import { quantileOf, roundedOrNull, toHundredths } from '../figures.ts';
import { p99Of } from './judge.ts';
import type { Played } from './play-fault.ts';
import { describeSigns } from './signs.ts';

export interface Row extends Played {
  /** The p99 of others' starts in a run without the fault, in seconds; undefined: no others. */
  readonly othersP99Without: number | undefined;
}

/** Null where nothing came back, or no job waited for it. */
const atShare = ({ afterFault }: Played, share: number): number | null =>
  afterFault.length === 0 ? null : toHundredths(quantileOf(afterFault, share));

/** The row of the table. */
export const toResult = (row: Row) => ({
  fault: row.fault,
  jobs: row.jobs,
  made: row.registrationsMade,
  // Pods of one environment, and of one of its entities.
  most_at_once: `${row.mostActive.pool} (${row.mostActive.entity})`,
  excess: row.excessWorkers,
  // Calls that GitHub had asked to wait for.
  too_soon: row.callsAgainstWait,
  seconds: toHundredths(row.seconds),
  // How many jobs had no runner when the faulty part came back, and how much later they had one.
  waited: row.afterFault.length,
  p50_s: atShare(row, 0.5),
  p99_s: atShare(row, 0.99),
  // The p99 of others' starts, with the fault and without it.
  others_s: roundedOrNull(p99Of(row.othersStarts)),
  without_s: roundedOrNull(row.othersP99Without),
});

/** The signs of the faults, and last the complaints. */
export const notesOf = (rows: readonly Row[]): string =>
  [
    ...rows.map(({ fault, signs }) => `${fault}: ${describeSigns(signs)}`),
    ...rows.flatMap(({ fault, unsettled }) => unsettled.map((line) => `${fault}: ${line}`)),
  ].join('\n');
