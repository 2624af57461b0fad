import { alignColumns, quantileOf, toHundredths } from '../figures.ts';
import { p99Of } from './judge.ts';
import type { Played } from './play-fault.ts';
import { describeSigns, type Signs } from './signs.ts';

export interface Row extends Played {
  /** The p99 of others' starts in a run without the fault, in seconds; undefined: no others. */
  readonly othersP99Without: number | undefined;
}

interface Figure {
  /** The name in the JSON object. */
  readonly field: string;
  /** The head of its column in the table. */
  readonly head: string;
  readonly of: (row: Row) => string | number | object | null;
}

/** Null where nothing came back, or no job waited for it. */
const atShare = ({ afterFault }: Played, share: number): number | null =>
  afterFault.length === 0 ? null : toHundredths(quantileOf(afterFault, share));

const secondsOrNull = (seconds: number | undefined): number | null =>
  seconds === undefined ? null : toHundredths(seconds);

/**
 * Most at once: pods of one environment, and of one of its entities. Too soon: calls that GitHub
 * had asked to wait for. Waited: how many jobs had no runner when the faulty part came back, and
 * how much later they had one. The last figures: the p99 of others' starts, with the fault and
 * without it.
 */
const FIGURES: readonly Figure[] = [
  { field: 'fault', head: 'fault', of: ({ fault }) => fault },
  { field: 'jobs', head: 'jobs', of: ({ jobs }) => jobs },
  { field: 'lost', head: 'lost', of: ({ lost }) => lost },
  { field: 'workers_left', head: 'workers', of: (row) => row.workersLeft },
  { field: 'registrations_left', head: 'registrations', of: (row) => row.registrationsLeft },
  { field: 'pods_left', head: 'pods', of: (row) => row.podsLeft },
  { field: 'running_killed', head: 'killed', of: (row) => row.runningKilled },
  { field: 'excess_workers', head: 'excess', of: (row) => row.excessWorkers },
  { field: 'unfounded_workers', head: 'unfounded', of: (row) => row.unfoundedWorkers.length },
  { field: 'registrations_made', head: 'made', of: (row) => row.registrationsMade },
  { field: 'most_active_pods', head: 'most at once', of: (row) => row.mostActive },
  { field: 'calls_against_wait', head: 'too soon', of: (row) => row.callsAgainstWait },
  { field: 'seconds', head: 'seconds', of: (row) => toHundredths(row.seconds) },
  { field: 'waited_after_fault', head: 'waited', of: (row) => row.afterFault.length },
  { field: 'after_fault_p50_s', head: 'p50 s', of: (row) => atShare(row, 0.5) },
  { field: 'after_fault_p99_s', head: 'p99 s', of: (row) => atShare(row, 0.99) },
  {
    field: 'others_start_p99_s',
    head: 'others s',
    of: (row) => secondsOrNull(p99Of(row.othersStarts)),
  },
  {
    field: 'others_start_p99_s_without',
    head: 'without s',
    of: (row) => secondsOrNull(row.othersP99Without),
  },
];

/** The row by the names of the JSON object. */
export const toResult = (row: Row): object => ({
  ...Object.fromEntries(FIGURES.map(({ field, of }) => [field, of(row)])),
  struck: snakeCased(row.signs),
});

const snakeCased = (signs: Signs): object =>
  Object.fromEntries(
    Object.entries(signs).map(([sign, count]) => [
      sign.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      count,
    ]),
  );

function shown(value: ReturnType<Figure['of']>): string {
  if (value === null) return '-';
  return typeof value === 'object' ? Object.values(value).join(' / ') : String(value);
}

/** The table for people; below it the signs of the faults, and last the complaints. */
export function tableOf(rows: readonly Row[]): string {
  const wrong = rows.flatMap(({ fault, unsettled }) =>
    unsettled.map((line) => `${fault}: ${line}`),
  );
  return [
    alignColumns([
      FIGURES.map(({ head }) => head),
      ...rows.map((row) => FIGURES.map(({ of }) => shown(of(row)))),
    ]),
    '',
    ...rows.map(({ fault, signs }) => `${fault}: ${describeSigns(signs)}`),
    ...(wrong.length === 0 ? [] : ['', ...wrong]),
  ].join('\n');
}
