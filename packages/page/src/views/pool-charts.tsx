import { duration } from '@paddock/domain/text/duration';
import { useMemo } from 'preact/hooks';
import type { LastHour, Pool, PoolHour } from '../answers.ts';
import { Chart } from '../parts/chart.tsx';
import { fifthsOf, instantsOf, inWords } from '../parts/last-hour.ts';
import { type Column, Table } from '../parts/table.tsx';
import { At } from '../parts/time.tsx';
import { useAnswer } from '../state/use-answer.ts';
import { number } from '../text/words.ts';

/** The instants are a minute apart. */
export const EVERY_MS = 60_000;

/** The last hour of a pool: demand, supply and cap, and how long jobs were queued. */
export function PoolCharts({ pool: { name, cap } }: { pool: Pool }) {
  const { answer } = useAnswer<LastHour>(
    `/pools/last-hour?${new URLSearchParams({ pool: name }).toString()}`,
    [],
    EVERY_MS,
  );
  const limit = cap?.limit;
  const drawn = useMemo(() => answer && toLines(answer, limit), [answer, limit]);
  if (answer === undefined || drawn === undefined) return null;
  const [hour] = answer.items;
  if (hour === undefined)
    return <p class="none">In the last hour it had neither job nor worker.</p>;
  return (
    <>
      <Chart
        label="Jobs and workers in the last hour"
        instants={drawn.instants}
        said={whole}
        lines={drawn.many}
      >
        <details>
          <summary>{inWords(hour)}</summary>
          <Table
            caption="Jobs and workers, each fifth minute"
            columns={COLUMNS}
            rows={fifthsOf(answer, hour)}
            keyOf={({ at }) => at}
            none=""
          />
        </details>
      </Chart>
      <Chart
        label="How long jobs were queued that started then"
        instants={drawn.instants}
        said={seconds}
        lines={drawn.queued}
      />
    </>
  );
}

const whole = (value: number): string => (Number.isInteger(value) ? number(value) : '');
const seconds = (value: number): string => duration(value * 1_000);

/** What is drawn: the same as long as the answer is. */
function toLines(answer: LastHour, limit: number | undefined) {
  const [hour] = answer.items;
  if (hour === undefined) return { instants: [], many: [], queued: [] };
  const instants = instantsOf(answer, hour.waiting.length);
  const cap = {
    name: 'cap today',
    values: instants.map(() => limit ?? null),
    colour: '--quiet',
    isDashed: true,
  };
  return {
    instants,
    many: [
      { name: 'workers', values: hour.workers, colour: '--bar-starting', isArea: true },
      { name: 'at work', values: hour.busy, colour: '--bar-busy', isArea: true },
      { name: 'waiting', values: hour.waiting, colour: '--bar-waiting' },
      ...(limit === undefined ? [] : [cap]),
    ],
    queued: [
      {
        name: 'median',
        values: inSeconds(hour.queuedP50Ms),
        colour: '--bar-idle',
        hasPoints: true,
      },
      {
        name: '95th percentile',
        values: inSeconds(hour.queuedP95Ms),
        colour: '--bar-waiting',
        hasPoints: true,
      },
    ],
  };
}

const inSeconds = (values: PoolHour['queuedP50Ms']) =>
  values.map((ms) => (ms === null ? null : ms / 1_000));

const many = (value: number | null) => (value === null ? '–' : number(value));

const COLUMNS: readonly Column<ReturnType<typeof fifthsOf>[number]>[] = [
  { name: 'At', of: ({ at }) => <At at={at} /> },
  { name: 'Waiting', isNumber: true, of: ({ waiting }) => many(waiting) },
  { name: 'Workers', isNumber: true, of: ({ workers }) => many(workers) },
  { name: 'At work', isNumber: true, of: ({ busy }) => many(busy) },
];
