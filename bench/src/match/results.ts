import { alignColumns, medianOf, toHundredths } from '../figures.ts';

/** Milliseconds of each kind of pass, of all rounds. */
export interface Times {
  readonly deficits: number[];
  readonly floor: number[];
  /** Infinity: it was given up. */
  readonly predecessor: number[];
  readonly pass: number[];
  readonly idle: number[];
}

export const noTimes = (): Times => ({ deficits: [], floor: [], predecessor: [], pass: [], idle: [] });

/** What is printed of one number of waiting jobs over one history, by the names of the JSON object: medians in milliseconds. */
export interface Run {
  readonly waiting: number;
  readonly deficits_ms: number;
  readonly floor_ms: number;
  /** Null: not measured over this history, or longer than its limit. */
  readonly predecessor_ms: number | null;
  readonly pass_ms: number;
  readonly idle_pass_ms: number;
  readonly history_rows: number;
}

export function toRun(waiting: number, historyRows: number, times: Times): Run {
  const predecessor = medianOf(times.predecessor);
  return {
    waiting,
    deficits_ms: toHundredths(medianOf(times.deficits)),
    floor_ms: toHundredths(medianOf(times.floor)),
    predecessor_ms: Number.isFinite(predecessor) ? toHundredths(predecessor) : null,
    pass_ms: toHundredths(medianOf(times.pass)),
    idle_pass_ms: toHundredths(medianOf(times.idle)),
    history_rows: historyRows,
  };
}

/** The same after many changes of status and a vacuum. */
export interface ChangedRun {
  readonly waiting: number;
  readonly deficits_ms: number;
  readonly floor_ms: number;
  readonly status_changes: number;
}

const figure = (value: number | null): string => (value === null ? '-' : value.toFixed(2));

/** The table for people. */
export function tableOf(runs: readonly Run[], changed: readonly ChangedRun[]): string {
  return alignColumns([
    ['waiting', 'history', 'deficits ms', 'floor ms', 'of floor', 'one by one ms', 'pass ms', 'idle pass ms'],
    ...runs.map((run) => [
      String(run.waiting),
      String(run.history_rows),
      figure(run.deficits_ms),
      figure(run.floor_ms),
      figure(run.deficits_ms / run.floor_ms),
      figure(run.predecessor_ms),
      figure(run.pass_ms),
      figure(run.idle_pass_ms),
    ]),
    ...changed.map((run) => [
      `${run.waiting} changed`,
      String(run.status_changes),
      figure(run.deficits_ms),
      figure(run.floor_ms),
      figure(run.deficits_ms / run.floor_ms),
      '-',
      '-',
      '-',
    ]),
  ]);
}
