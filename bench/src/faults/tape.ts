import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../stage/service.ts';

type Scraped = Pick<Service, 'name' | 'metrics'>;
/** In the tests of alerts a second stands for a minute. */
export const RULES_OF_TAPES = { db: { lateAfterSeconds: 1 } };
/** One sample a second. */
const EVERY_MS = 1_000;
/** Prometheus waits as long by default. */
const PATIENCE_MS = 10_000;
/**
 * How long to go on after the end of a row, so that what fired has time to clear; longer while
 * deliveries are to be repeated of which no job waits.
 */
const AFTER_MS = 5_000;
const AFTER_MOST_MS = 120_000;
const ALERTS = join(import.meta.dirname, '../../../deploy/helm/paddock/files/alerts.yaml');

const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/gm;

/** The values of a series, one for each second; undefined: its process did not answer. */
type Series = Map<string, (string | undefined)[]>;

/**
 * Plays a row and records what its services show at /metrics meanwhile, as far as alerts read it.
 * Writes that as a file of the folder.
 */
export async function recordTape<T>(
  stage: { readonly environments: readonly { readonly services: readonly Scraped[] }[] },
  { folder, row }: { folder: string; row: string },
  play: () => Promise<T>,
): Promise<T> {
  const [rules = ''] = (await readFile(ALERTS, 'utf8')).split('name: paddock.gha');
  const isRead = (sample: string): boolean => {
    const name = /^\w+/.exec(sample)?.[0] ?? '';
    const event = /event="(\w+)"/.exec(sample)?.[1] ?? name;
    return new RegExp(`\\b${name}\\b`).test(rules) && new RegExp(`\\b${event}\\b`).test(rules);
  };
  const series: Series = new Map();
  const startedAt = Date.now();
  const scrape = async ({ name, metrics }: Scraped, second: number): Promise<void> => {
    const page = (await metrics(PATIENCE_MS)) ?? '';
    for (const [line, sample = '', labels = '', value = ''] of page.matchAll(SAMPLE)) {
      const all = `${labels && `${labels},`}instance="${name.split(' ')[0]}"`;
      if (isRead(line)) note(series, `${sample}{${all}}`, { second, value });
    }
  };
  const played = new AbortController();
  const recording = (async () => {
    const scrapes: Promise<void>[] = [];
    for (let second = 0; !played.signal.aborted; second++) {
      await sleep(Math.max(0, startedAt + second * EVERY_MS - Date.now()));
      for (const { services } of stage.environments)
        scrapes.push(...services.map((service) => scrape(service, second)));
    }
    await Promise.all(scrapes);
  })();
  try {
    const result = await play();
    const deadline = Date.now() + AFTER_MOST_MS;
    do await sleep(AFTER_MS);
    while (isUnresolved(series) && Date.now() < deadline);
    return result;
  } finally {
    played.abort();
    await recording;
    const sorted = [...series].filter(isOfUse).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const tape = { startedAt, series: Object.fromEntries(sorted.map(compact)) };
    await writeFile(join(folder, `${row}.json`), `${JSON.stringify(tape, undefined, 2)}\n`);
  }
}

const isUnresolved = (series: Series): boolean =>
  [...series].some(([name, values]) => /_unresolved_/.test(name) && values.at(-1) !== '0');

function note(series: Series, name: string, given: { second: number; value: string }): void {
  const values = series.get(name) ?? [];
  series.set(name, values);
  values[given.second] = String(Math.round(Number(given.value) * 100) / 100);
}

/** No alert fires for a series of zeros; of some it matters whether they are there. */
const isOfUse = ([name, values]: [string, (string | undefined)[]]): boolean =>
  /^paddock_(events_total|migration_needed|job_queue_seconds_bucket)/.test(name) ||
  values.some((value) => (value ?? '0') !== '0');

/** `2*3 2*- 4`: twice 3, nothing twice, and 4. */
function compact([name, values]: [string, (string | undefined)[]]): [string, string] {
  const runs: { value: string; times: number }[] = [];
  for (const value of Array.from(values, (one) => one ?? '-')) {
    const last = runs.at(-1);
    if (last?.value === value) last.times += 1;
    else runs.push({ value, times: 1 });
  }
  return [
    name,
    runs.map(({ value, times }) => (times > 1 ? `${times}*${value}` : value)).join(' '),
  ];
}
