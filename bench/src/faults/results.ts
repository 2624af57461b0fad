import { alignColumns, quantileOf, toHundredths } from '../figures.ts';
import { p99Of } from './others.ts';
import type { Played } from './play-fault.ts';
import { describeSigns, type Signs } from './signs.ts';

export interface Row extends Played {
  /** The p99 of others' starts in a run without the fault, in seconds; undefined: no others. */
  readonly othersP99Without: number | undefined;
}

/** The row by the names of the JSON object. */
export const toResult = (played: Row): object => ({
  fault: played.fault,
  jobs: played.jobs,
  lost: played.lost,
  workers_left: played.workersLeft,
  registrations_left: played.registrationsLeft,
  pods_left: played.podsLeft,
  running_killed: played.runningKilled,
  excess_workers: played.excessWorkers,
  unfounded_workers: played.unfoundedWorkers.length,
  registrations_made: played.registrationsMade,
  most_active_pods: played.mostActive,
  seconds: toHundredths(played.seconds),
  waited_after_fault: played.afterFault.length,
  after_fault_p50_s: atShare(played, 0.5),
  after_fault_p99_s: atShare(played, 0.99),
  others_start_p99_s: secondsOrNull(p99Of(played.othersStarts)),
  others_start_p99_s_without: secondsOrNull(played.othersP99Without),
  calls_against_wait: played.callsAgainstWait,
  struck: snakeCased(played.signs),
});

/** Null where nothing came back, or no job waited for it. */
const atShare = ({ afterFault }: Played, share: number): number | null =>
  afterFault.length === 0 ? null : toHundredths(quantileOf(afterFault, share));

const secondsOrNull = (seconds: number | undefined): number | null =>
  seconds === undefined ? null : toHundredths(seconds);

const snakeCased = (signs: Signs): object =>
  Object.fromEntries(
    Object.entries(signs).map(([sign, count]) => [
      sign.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      count,
    ]),
  );

const shownShare = (row: Played, share: number): string => atShare(row, share)?.toFixed(1) ?? '-';

/**
 * The table for people; below it the signs of the faults, and last the complaints. Most at once:
 * pods of one environment, and of one of its entities. Too soon: calls that GitHub had asked to
 * wait for. Waited: how many jobs had no runner when the faulty part came back, and how much later
 * they had one. The last columns: the p99 of others' starts, with the fault and without it.
 */
export function tableOf(rows: readonly Row[]): string {
  const heads = [
    'fault',
    'jobs',
    'lost',
    'workers',
    'registrations',
    'pods',
    'killed',
    'excess',
    'unfounded',
    'made',
    'most at once',
    'too soon',
    'seconds',
    'waited',
    'p50 s',
    'p99 s',
    'others s',
    'without s',
  ];
  const table = rows.map((row) =>
    [
      row.fault,
      row.jobs,
      row.lost,
      row.workersLeft,
      row.registrationsLeft,
      row.podsLeft,
      row.runningKilled,
      row.excessWorkers,
      row.unfoundedWorkers.length,
      row.registrationsMade,
      `${row.mostActive.pool} (${row.mostActive.entity})`,
      row.callsAgainstWait,
    ]
      .map(String)
      .concat(
        row.seconds.toFixed(1),
        String(row.afterFault.length),
        shownShare(row, 0.5),
        shownShare(row, 0.99),
        p99Of(row.othersStarts)?.toFixed(1) ?? '-',
        row.othersP99Without?.toFixed(1) ?? '-',
      ),
  );
  const struck = rows.map(({ fault, signs }) => `${fault}: ${describeSigns(signs)}`);
  const wrong = rows.flatMap(({ fault, unsettled }) =>
    unsettled.map((line) => `${fault}: ${line}`),
  );
  return [
    alignColumns([heads, ...table]),
    '',
    ...struck,
    ...(wrong.length === 0 ? [] : ['', ...wrong]),
  ].join('\n');
}
