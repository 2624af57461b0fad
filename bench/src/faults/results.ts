import { alignColumns, toHundredths } from '../figures.ts';
import type { Played } from './play-fault.ts';
import { describeSigns, type Signs } from './signs.ts';

/** The row by the names of the JSON object. */
export const toResult = (played: Played): object => ({
  fault: played.fault,
  jobs: played.jobs,
  lost: played.lost,
  workers_left: played.workersLeft,
  registrations_left: played.registrationsLeft,
  pods_left: played.podsLeft,
  running_killed: played.runningKilled,
  excess_workers: played.excessWorkers,
  unfounded_workers: played.unfoundedWorkers,
  registrations_made: played.registrationsMade,
  seconds: toHundredths(played.seconds),
  struck: snakeCased(played.signs),
});

const snakeCased = (signs: Signs): object =>
  Object.fromEntries(Object.entries(signs).map(([sign, count]) => [sign.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), count]));

/** The table for people, below it what the faults have done, and last what is wrong. */
export function tableOf(rows: readonly Played[]): string {
  const heads = ['fault', 'jobs', 'lost', 'workers', 'registrations', 'pods', 'killed', 'excess', 'unfounded', 'made', 'seconds'];
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
      row.unfoundedWorkers,
      row.registrationsMade,
    ]
      .map(String)
      .concat(row.seconds.toFixed(1)),
  );
  const struck = rows.map(({ fault, signs }) => `${fault}: ${describeSigns(signs)}`);
  const wrong = rows.flatMap(({ fault, unsettled }) => unsettled.map((line) => `${fault}: ${line}`));
  return [alignColumns([heads, ...table]), '', ...struck, ...(wrong.length === 0 ? [] : ['', ...wrong])].join('\n');
}
