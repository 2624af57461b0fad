import { useMemo } from 'preact/hooks';
import type { AnswerOf, Item } from '../answers.ts';
import { Chart } from '../parts/chart.tsx';
import { secondsInWords } from '../parts/history.tsx';
import { Tabs } from '../parts/list.tsx';
import { type Column, figure, Table, wide } from '../parts/table.tsx';
import { Answer, Heading } from '../parts/view.tsx';
import type { ViewProps } from '../paths.ts';
import { useAnswer } from '../state/use-answer.ts';
import { number } from '../text/words.ts';

const SPANS = { '24h': 'Day', '7d': 'Week' };

export function Compare({ query }: ViewProps) {
  const since = query.get('since') ?? '24h';
  const shown = useAnswer<AnswerOf<'compareRunners'>>(
    `/compare?since=${encodeURIComponent(since)}`,
    [],
  );
  return (
    <>
      <Heading title="Beside others">
        <Tabs
          name="Since"
          of={Object.fromEntries(
            Object.entries(SPANS).map(([span, name]) => [`/compare?since=${span}`, name]),
          )}
          here={`/compare?since=${since}`}
        />
      </Heading>
      <Answer of={shown}>
        {(answer) => (
          <>
            <Queued {...answer} />
            <Table
              caption="Jobs by their labels, here and on other runners"
              columns={COLUMNS}
              rows={answer.items}
              keyOf={({ labels }) => JSON.stringify(labels)}
              none="No job has ended then."
            />
          </>
        )}
      </Answer>
    </>
  );
}

const LINES = [
  ['ours', 'p50', '--bar-idle'],
  ['ours', 'p95', '--bar-busy'],
  ['others', 'p50', '--bar-waiting'],
  ['others', 'p95', '--bar-stopping'],
] as const;

function Queued({ times }: AnswerOf<'compareRunners'>) {
  const drawn = useMemo(
    () => ({
      instants: times.map(({ at }) => Date.parse(at) / 1_000),
      lines: LINES.map(([side, share, colour]) => ({
        name: `${side} ${share}`,
        values: times.map((row) => row[side][share]),
        colour,
        hasPoints: true,
        isDashed: side === 'others',
      })),
    }),
    [times],
  );
  return <Chart label="How long jobs were queued" said={secondsInWords} {...drawn} />;
}

const FIGURES = {
  jobs: number,
  failed: number,
  p50: secondsInWords,
  p95: secondsInWords,
};

const columnsOf = (side: 'ours' | 'others', name: string): Column<Item<'compareRunners'>>[] =>
  Object.entries(FIGURES).map(([what, said]) =>
    figure(`${name}: ${what}`, (row) => {
      const value = row[side][what as keyof typeof FIGURES];
      return value === null ? '–' : said(value);
    }),
  );

const COLUMNS: readonly Column<Item<'compareRunners'>>[] = [
  wide('Labels', ({ labels }) => labels.join(', ')),
  ...columnsOf('ours', 'Ours'),
  ...columnsOf('others', 'Others'),
];
