import { alignColumns, medianOf, toHundredths } from '../figures.ts';

/** Milliseconds of each kind of pass, in all rounds. */
export interface Times {
  readonly deficits: number[];
  readonly perKey: number[];
  readonly floor: number[];
  /** Infinity: it was given up. */
  readonly predecessor: number[];
  readonly pass: number[];
  readonly idle: number[];
}

export const noTimes = (): Times => ({
  deficits: [],
  perKey: [],
  floor: [],
  predecessor: [],
  pass: [],
  idle: [],
});

/**
 * The printed figures of one number of waiting jobs with one history, by the names of the JSON
 * object: medians in milliseconds.
 */
export interface Run {
  readonly waiting: number;
  /** A whole pass, and a pass without work: the times that operators see. */
  readonly pass_ms: number;
  readonly idle_pass_ms: number;
  /**
   * Within the pass: the statement that reads the demand of each key, and the one before it, which
   * sums it up.
   */
  readonly per_key_ms: number;
  readonly deficits_ms: number;
  readonly floor_ms: number;
  /** Null: not measured with this history, or longer than its limit. */
  readonly predecessor_ms: number | null;
  readonly history_rows: number;
}

export function toRun(waiting: number, historyRows: number, times: Times): Run {
  const predecessor = medianOf(times.predecessor);
  return {
    waiting,
    pass_ms: toHundredths(medianOf(times.pass)),
    idle_pass_ms: toHundredths(medianOf(times.idle)),
    ...ofDemand(times),
    predecessor_ms: Number.isFinite(predecessor) ? toHundredths(predecessor) : null,
    history_rows: historyRows,
  };
}

const ofDemand = ({ perKey, deficits, floor }: Times) => ({
  per_key_ms: toHundredths(medianOf(perKey)),
  deficits_ms: toHundredths(medianOf(deficits)),
  floor_ms: toHundredths(medianOf(floor)),
});

/** The same after many changes of status and a vacuum. */
export interface ChangedRun extends Pick<
  Run,
  'waiting' | 'per_key_ms' | 'deficits_ms' | 'floor_ms'
> {
  readonly status_changes: number;
}

export const toChangedRun = (waiting: number, statusChanges: number, times: Times): ChangedRun => ({
  waiting,
  ...ofDemand(times),
  status_changes: statusChanges,
});

const figure = (value: number | null): string => (value === null ? '-' : value.toFixed(2));

const LOAD = `
Jobs of 1 000 entities in 3 pools, one worker in the making for four jobs. pass: all that a scheduler does,
1 000 new workers at most; idle pass: nothing waits. per key, sum: the statements for demand within a pass.
floor: a bare count of the waiting jobs. one by one: two queries for each waiting job. changed: after so many
changes of status. Medians.`;

/** The table for people, the time of a pass first, and what was measured. */
export function tableOf(runs: readonly Run[], changed: readonly ChangedRun[]): string {
  const rowOf = (name: string, history: number, run: ChangedRun | Run): string[] => [
    name,
    String(history),
    ...('pass_ms' in run ? [figure(run.pass_ms), figure(run.idle_pass_ms)] : ['-', '-']),
    figure(run.per_key_ms),
    figure(run.per_key_ms / run.floor_ms),
    figure(run.deficits_ms),
    figure(run.deficits_ms / run.floor_ms),
    figure(run.floor_ms),
    figure('predecessor_ms' in run ? run.predecessor_ms : null),
  ];
  const table = alignColumns([
    [
      'waiting',
      'history',
      'pass ms',
      'idle pass ms',
      'per key ms',
      'of floor',
      'sum ms',
      'of floor',
      'floor ms',
      'one by one ms',
    ],
    ...runs.map((run) => rowOf(String(run.waiting), run.history_rows, run)),
    ...changed.map((run) => rowOf(`${run.waiting} changed`, run.status_changes, run)),
  ]);
  return `${table}
${LOAD}`;
}
