import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isDark, theme } from '../state/theme.ts';
import { instantIn } from '../text/words.ts';
import type { Line } from './draw-chart.ts';

interface ChartProps {
  /** What it shows, for those who do not see it. */
  readonly label: string;
  /** In seconds since 1970. Others, or other lines, are drawn anew. */
  readonly instants: readonly number[];
  readonly lines: readonly Line[];
  readonly said: (value: number) => string;
  /** The same as a text. */
  readonly children?: ComponentChildren;
}

/** Lines over time. What draws them is fetched with the first chart that is looked at. */
export function Chart({ label, instants, lines, said, children }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number>();
  const colours = `${theme.value} ${isDark.value}`;
  useEffect(() => {
    const clock = (seconds: number) => instantIn(seconds, instants);
    let end: (() => void) | undefined;
    let isOver = false;
    const draw = async () => {
      const { drawChart } = await import('./draw-chart.ts');
      if (!isOver && place.current !== null)
        end = drawChart(place.current, { instants, lines, said, clock, look: setAt });
    };
    // Without it the figures still stand here.
    draw().catch(() => undefined);
    return () => {
      isOver = true;
      end?.();
    };
  }, [instants, lines, said, colours]);
  const shown = at ?? instants.length - 1;
  const instant = instants[shown];
  return (
    <figure class="chart">
      <figcaption>
        <b>{label}</b>
        <ul class="key">
          {lines.map(({ name, colour, values }) => (
            <li key={name}>
              <i style={{ background: `var(${colour})` }} />
              {name} <b>{valueOf(values[shown], said)}</b>
            </li>
          ))}
          <li>{instant === undefined ? '' : instantIn(instant, instants)}</li>
        </ul>
      </figcaption>
      <div ref={place} class="drawn" aria-hidden="true" />
      {children}
    </figure>
  );
}

const valueOf = (value: number | null | undefined, said: ChartProps['said']): string =>
  value === null || value === undefined ? '–' : said(value);
