import { alignColumns, toHundredths } from '../figures.ts';
import type { Played } from './play-fault.ts';

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
  seconds: toHundredths(played.seconds),
});

/** The table for people, and below it what is wrong. */
export function tableOf(rows: readonly Played[]): string {
  const heads = ['fault', 'jobs', 'lost', 'workers', 'registrations', 'pods', 'killed', 'excess', 'seconds'];
  const table = rows.map((row) =>
    [row.fault, row.jobs, row.lost, row.workersLeft, row.registrationsLeft, row.podsLeft, row.runningKilled, row.excessWorkers]
      .map(String)
      .concat(row.seconds.toFixed(1)),
  );
  const wrong = rows.flatMap(({ fault, unsettled }) => unsettled.map((line) => `${fault}: ${line}`));
  return [alignColumns([heads, ...table]), ...(wrong.length === 0 ? [] : ['', ...wrong])].join('\n');
}
