import { duration } from '@paddock/domain/text/duration';
import { useMemo, useState } from 'preact/hooks';
import type { AnswerOf, Item } from '../answers.ts';
import { useAnswer } from '../state/use-answer.ts';
import { amount, number } from '../text/words.ts';
import { Chart } from './chart.tsx';

/** How far back, by what. An hour has few starts, a month too many hours. */
const SPANS = {
  Day: { from: '-24h', by: 'hour', stepS: 3_600 },
  Week: { from: '-7d', by: 'hour', stepS: 3_600 },
  Month: { from: '-30d', by: 'day', stepS: 86_400 },
} as const;

/** What started, how long it was queued, and what workers did: over hours and days, by filters. */
export function History({ of }: { of: Readonly<Record<string, string>> }) {
  const [chosen, choose] = useState<keyof typeof SPANS>('Day');
  const { from, by, stepS } = SPANS[chosen];
  const asked = new URLSearchParams({ ...of, from, by, limit: '200' });
  const { answer } = useAnswer<AnswerOf<'listUsage'>>(`/usage?${asked.toString()}`, []);
  const drawn = useMemo(() => answer && toLines(answer, stepS), [answer, stepS]);
  return (
    <section aria-label="Before">
      <h2 class="choices">
        Before
        {Object.keys(SPANS).map((span) => (
          <button
            key={span}
            type="button"
            class="plain"
            aria-pressed={span === chosen}
            onClick={() => choose(span as keyof typeof SPANS)}
          >
            {span}
          </button>
        ))}
      </h2>
      {drawn !== undefined &&
        (
          [
            [`Jobs that started, by ${by}`, number, drawn.started],
            ['How long they were queued', secondsInWords, drawn.queued],
            ['Workers at a time, by what they did', amount, drawn.workers],
          ] as const
        ).map(([label, said, lines]) => (
          <Chart key={label} label={label} instants={drawn.instants} said={said} lines={lines} />
        ))}
      <p class="quiet">Of jobs and workers that have ended, where their jobs were stored; UTC.</p>
    </section>
  );
}

export const secondsInWords = (value: number): string => duration(value * 1_000);

/** A value for each step of the span: what has no row had nothing. */
export function toLines(
  { items, from, to }: Pick<AnswerOf<'listUsage'>, 'items' | 'from' | 'to'>,
  stepS: number,
) {
  const rows = new Map(items.map((row) => [Date.parse(row.at ?? '') / 1_000, row]));
  const first = Math.floor(Date.parse(from) / 1_000 / stepS) * stepS;
  const instants: number[] = [];
  for (let at = first; at < Date.parse(to) / 1_000; at += stepS) instants.push(at);
  const values = (of: (row: Item<'listUsage'>) => number) =>
    instants.map((at) => {
      const row = rows.get(at);
      return row === undefined ? 0 : of(row);
    });
  const queued = (of: 'p50' | 'p95') =>
    instants.map((at) => rows.get(at)?.queuedSeconds?.[of] ?? null);
  const atATime = (of: (row: Item<'listUsage'>) => number) =>
    values((row) => (of(row) * 60) / stepS);
  return {
    instants,
    started: [
      { name: 'started', values: values((row) => row.started), colour: '--bar-busy', isBar: true },
    ],
    queued: [
      { name: 'median', values: queued('p50'), colour: '--bar-idle', hasPoints: true },
      { name: '95th percentile', values: queued('p95'), colour: '--bar-waiting', hasPoints: true },
    ],
    workers: [
      {
        name: 'in all',
        values: atATime((row) => row.runnerMinutes),
        colour: '--bar-busy',
        isArea: true,
      },
      { name: 'idle', values: atATime((row) => row.idleMinutes), colour: '--bar-idle' },
      {
        name: 'failed later',
        values: atATime((row) => row.thrownAwayMinutes),
        colour: '--bar-waiting',
      },
    ],
  };
}
