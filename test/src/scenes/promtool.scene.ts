import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { onPath } from '@paddock/testing/render-chart';
import { type Rule, RULES } from './alert-rules.scene.ts';
import { ROOT } from './documented-metrics.scene.ts';

/** Path of promtool; undefined where there is none. */
export const PROMTOOL = onPath('promtool');

/** Runs promtool on the last of these files, YAML by their names; returns what it printed. */
export function runPromtool(command: readonly string[], files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'paddock-promtool-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const args = [...command, Object.keys(files).at(-1) ?? ''];
    const options = { cwd: folder, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(PROMTOOL ?? '', args, options);
    return { status, printed: stdout + stderr };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The values of a series as promtool reads them, one a minute, by its name and labels. */
export type Series = Readonly<Record<string, string>>;

/** How an episode ends: nothing happens for this many minutes, so that all can clear. */
const QUIET_MINUTES = 120;

/** A second of the bench is a minute here: so are ages, waits and the clock. */
const SECONDS = 60;
const AGE = /^paddock_(oldest_waiting_job|task_oldest_due|redelivery_oldest_unresolved)_seconds/;
const INSTANT = /^paddock_\w+_timestamp_seconds/;
const WAIT = /^(paddock_(?:job_queue|worker_to_running)_seconds_bucket.*le=")([\d.]+)"/;

const FOLDER = join(ROOT, 'test/src/alerts/tapes');
/** Those of `STATES`, in one file. */
export const STATES_FILE = join(FOLDER, 'states.json');

interface Tape {
  readonly startedAt: number;
  readonly series: Series;
}

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const tapes: Readonly<Record<string, Tape>> = Object.assign(
  {},
  ...globSync('*.json', { cwd: FOLDER }).map((file) => {
    const content = read(join(FOLDER, file)) as object;
    return 'series' in content ? { [basename(file, '.json')]: content } : content;
  }),
);
export const TAPES = Object.keys(tapes);

const scaled = (_: string, before: string, le: string) => `${before}${Number(le) * SECONDS}"`;

/**
 * What `bench faults --tape` has written of a row, or what was recorded of a state: the values of
 * each minute. It begins at a minute of the episode.
 */
function minutesOf(row: string, from: number) {
  const { startedAt, series } = tapes[row] ?? { startedAt: 0, series: {} };
  // All services run at the end, but may not answer the last scrape.
  const length = Math.min(
    ...Object.entries(series).flatMap(([name, values]) =>
      name.startsWith('paddock_events_total') ? expand(values).length : [],
    ),
  );
  const begun = startedAt / 1_000 - from;
  const minutes = Object.entries(series).map(([name, values]): [string, string[]] => {
    const value = (text: string): string => {
      if (text === '-') return '_';
      if (AGE.test(name)) return String(Number(text) * SECONDS);
      return INSTANT.test(name) ? String((Number(text) - begun) * SECONDS) : text;
    };
    const given = expand(values);
    return [
      name.replace(WAIT, scaled),
      Array.from({ length }, (__, minute) => value(given[minute] ?? '-')),
    ];
  });
  return { length, series: new Map(minutes) };
}

/** An episode of tapes, one after the other: between two of them the services start anew. */
export function readTapes(...rows: readonly string[]): Series {
  let length = 0;
  const parts = rows.map((row) => {
    const part = minutesOf(row, length);
    length += part.length;
    return part;
  });
  const names = new Set(parts.flatMap(({ series }) => [...series.keys()]));
  return Object.fromEntries(
    [...names].map((name) => {
      const all = parts.flatMap(
        (part) => part.series.get(name) ?? Array.from({ length: part.length }, () => '_'),
      );
      const quiet = `${all.at(-1)}x${QUIET_MINUTES}`;
      return [name, withStaleness(all).concat(quiet).join(' ')];
    }),
  );
}

const expand = (values: string): string[] =>
  values.split(' ').flatMap((run) => {
    const [, times = '1', value = ''] = /^(?:(\d+)\*)?(.*)$/.exec(run) ?? [];
    return Array.from({ length: Number(times) }, () => value);
  });

/** Prometheus marks a series as soon as its process does not show it. */
const withStaleness = (values: readonly string[]): string[] =>
  values.map((value, minute) =>
    value === '_' && minute > 0 && values[minute - 1] !== '_' ? 'stale' : value,
  );

/**
 * Plays series to all alerts. Returns what promtool complains of unless exactly these alerts fire
 * meanwhile, and none is left at the end.
 */
export function complaintsOnPlaying(series: Series, alerts: readonly string[]): string {
  const steps = Math.max(...Object.values(series).map(lengthOf)) - 1;
  const ask = (expr: string, expected: readonly string[]) => ({
    expr: `group by (alertname) (${expr})`,
    eval_time: `${steps}m`,
    exp_samples: expected.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
  });
  const test = {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      ask('max_over_time(ALERTS{alertstate="firing"}[3d])', alerts),
      ask('ALERTS{alertstate="firing"}', []),
    ],
  };
  const { status, printed } = runPromtool(['test', 'rules'], {
    // Nothing reads what the others record.
    'alerts.json': JSON.stringify({
      groups: RULES.groups.filter(({ rules }) => rules.some(isAlert)),
    }),
    'test.json': JSON.stringify({
      rule_files: ['alerts.json'],
      evaluation_interval: '1m',
      tests: [test],
    }),
  });
  return status === 0 ? '' : printed;
}

const isAlert = ({ alert }: Rule): boolean => alert !== undefined;

/** The samples of a series: `1x4` are five, `_x4` four. */
const lengthOf = (values: string): number =>
  values.split(' ').reduce((sum, run) => {
    const [, missing, times] = /^(_)?.*?(?:x(\d+))?$/.exec(run) ?? [];
    return sum + (times === undefined ? 1 : Number(times) + (missing === undefined ? 1 : 0));
  }, 0);
