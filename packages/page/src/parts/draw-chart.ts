import uPlot from 'uplot';

export interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** A custom property of the style, as `--bar-busy`. */
  readonly colour: string;
  readonly isArea?: boolean;
  readonly isBar?: boolean;
  readonly isDashed?: boolean;
  /** Single points are seen, too: few instants have a value. */
  readonly hasPoints?: boolean;
}

interface Drawing {
  readonly instants: readonly number[];
  readonly lines: readonly Line[];
  readonly said: (value: number) => string;
  readonly clock: (seconds: number) => string;
  /** Hears at which instant somebody points. */
  readonly look: (at: number | undefined) => void;
}

const HEIGHT = 150;

/** The bars of a line, as wide as what they last. */
const bars = uPlot.paths.bars?.({ size: [0.7, 60] });

/** Draws a chart as wide as its place, in the colours of the theme. Call the result to take it away. */
export function drawChart(
  place: HTMLElement,
  { instants, lines, said, clock, look }: Drawing,
): () => void {
  const [first = 0, second = first] = instants;
  const stepS = second - first;
  // A bar stands on both sides of its instant, and so does a single one.
  const beside = lines.some(({ isBar }) => isBar) || stepS === 0 ? (stepS || 3_600) / 2 : 0;
  const colour = colourIn(place);
  const axis = {
    stroke: colour('--quiet'),
    font: '12px system-ui, sans-serif',
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  const chart = new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      padding: [8, 18, 0, 0],
      legend: { show: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'UTC'),
      scales: {
        x: { range: [first - beside, (instants.at(-1) ?? first) + beside] },
        y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] },
      },
      axes: [
        {
          ...axis,
          size: 26,
          ...(stepS >= 86_400 && { incrs: [1, 2, 7].map((n) => n * 86_400) }),
          values: (_, marks) => marks.map(clock),
        },
        { ...axis, size: 64, values: (_, values) => values.map(said) },
      ],
      cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
      hooks: { setCursor: [({ cursor }) => look(cursor.idx ?? undefined)] },
      series: [
        {},
        ...lines.map(({ name, colour: of, isArea, isBar, isDashed, hasPoints = false }) => ({
          label: name,
          stroke: colour(of),
          width: 2,
          ...(isArea && { fill: colour(of, 0.25) }),
          ...(isBar && bars && { fill: colour(of), paths: bars }),
          ...(isDashed && { dash: [5, 4], width: 1 }),
          points: { show: hasPoints, size: 5 },
          spanGaps: hasPoints,
        })),
      ],
    },
    [[...instants], ...lines.map(({ values }) => [...values])],
    place,
  );
  const resized = new ResizeObserver(() =>
    chart.setSize({ width: place.clientWidth, height: HEIGHT }),
  );
  resized.observe(place);
  return () => {
    resized.disconnect();
    chart.destroy();
  };
}

/** Canvases know no custom properties: the browser works them out for an element. */
function colourIn(place: HTMLElement) {
  return (name: string, share = 1): string => {
    place.style.color =
      share === 1
        ? `var(${name})`
        : `color-mix(in srgb, var(${name}) ${share * 100}%, transparent)`;
    const { color } = getComputedStyle(place);
    place.style.color = '';
    return color;
  };
}
