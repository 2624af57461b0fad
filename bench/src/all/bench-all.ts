import { type Bench, say, toHundredths } from '../bench.ts';
import { burst } from '../burst/bench-burst.ts';
import { growth } from '../growth/bench-growth.ts';
import { ingress } from '../ingress/bench-ingress.ts';
import { match } from '../match/bench-match.ts';
import { queue } from '../queue/bench-queue.ts';

const YEAR = { history: 100_000, events: 150_000, entities: 300, waiting: 2_000, living: 1_000 };

export const all: Bench = {
  about: 'each of the others small, beside the project’s goals; fails where one is missed by 15 %',
  numbers: {},
  async run() {
    const measured: Record<string, () => Promise<{ tables: Tables }>> = {
      ingress: () => ingress.run({ deliveries: 1_200, rounds: 3, history: 0 }),
      match: () => match.run({ history: 50_000 }),
      queue: () => queue.run({ tasks: 10_000, rounds: 3 }),
      burst: () => burst.run({ jobs: 1_000, single: 60 }),
      growth: () => growth.run(YEAR),
    };
    const judged: ReturnType<typeof judge> = [];
    for (const [name, run] of Object.entries(measured)) {
      say(`measuring ${name}`);
      const { tables } = await run();
      judged.push(...judge(name, tables));
    }
    return { tables: [judged], failed: judged.some(({ isMet }) => !isMet) };
  },
};

type Columns = Readonly<Record<string, string | number>>;
type Tables = readonly (readonly object[])[];

/**
 * What one figure of a bench should be. `of`: the columns of its row; the largest of all that fit
 * counts. `by`: what it is divided by, another figure of the row, or the same of the row with these
 * columns.
 */
type Goal = readonly [
  bench: string,
  figure: string,
  bound: `${'≥' | '≤'} ${number}`,
  of?: Columns,
  by?: string | Columns,
];

const at = (connections: number, variant = 'paddock') => ({ variant, connections });
const slots = (number: number, variant = 'paddock') => ({ variant, slots: number });

/** What the project wants of its speed, in ratios where the machine would decide otherwise. */
const GOALS: readonly Goal[] = [
  ['ingress', 'of_plain', '≥ 1.3', at(1)],
  ['ingress', 'of_plain', '≥ 2.5', at(16)],
  ['ingress', 'of_plain', '≥ 4', at(64)],
  ['ingress', 'of_plain', '≥ 5', at(256)],
  ['ingress', 'p50_ms', '≤ 0.7', at(1), at(1, 'plain')],
  ['ingress', 'p99_ms', '≤ 1', at(1), at(1, 'plain')],
  ['match', 'per_key_ms', '≤ 5', { waiting: 1_000 }, 'floor_ms'],
  ['match', 'per_key_ms', '≤ 5', { waiting: 10_000 }, 'floor_ms'],
  ['match', 'per_key_ms', '≤ 3', { waiting: 100_000 }, 'floor_ms'],
  ['match', 'pass_ms', '≤ 20', { waiting: 1_000 }],
  ['match', 'pass_ms', '≤ 40', { waiting: 10_000 }],
  ['match', 'pass_ms', '≤ 40', { waiting: 100_000 }],
  ['queue', 'of_graphile', '≥ 1', slots(16)],
  ['queue', 'of_graphile', '≥ 1', slots(64)],
  ['queue', 'of_graphile', '≥ 1.1', slots(500)],
  ['queue', 'start_p50_ms', '≤ 0.8', slots(16), slots(16, 'graphile')],
  ['queue', 'start_p99_ms', '≤ 1', slots(16), slots(16, 'graphile')],
  ['burst', 'seconds', '≤ 3', { organizations: 8 }],
  ['burst', 'alone_p50_ms', '≤ 10'],
  ['burst', 'alone_p99_ms', '≤ 30'],
  ['burst', 'ready_ms', '≤ 1000'],
  ['burst', 'idle_mb', '≤ 120'],
  ['growth', 'ms', '≤ 20'],
  ['growth', 'more_ms', '≤ 50'],
  ['growth', 'p95_ms', '≤ 50'],
];

/** How far a goal may be missed before the run fails. */
const SLACK = 0.15;

/** The goals of a bench with what it has measured. A goal without a figure is missed. */
function judge(bench: string, tables: Tables) {
  return GOALS.filter(([name]) => name === bench).map(([, figure, goal, of, by]) => {
    const divisor =
      typeof by === 'string' ? numberOf(tables, by, of) : numberOf(tables, figure, by);
    const value = numberOf(tables, figure, of) / (by === undefined ? 1 : divisor);
    const limit = Number(goal.slice(2));
    const isMet = goal.startsWith('≥')
      ? value >= limit * (1 - SLACK)
      : value <= limit * (1 + SLACK);
    const what = [bench, ...Object.values(of ?? {}), figure].join(' ');
    const over = typeof by === 'string' ? by : (Object.values(by ?? {})[0] ?? '');
    return { what, over, value: toHundredths(value), goal, isMet };
  });
}

function numberOf(tables: Tables, figure: string, of: Columns = {}): number {
  const values = tables.flat().flatMap((row) => {
    const said = new Map<string, unknown>(Object.entries(row));
    const value = said.get(figure);
    const fits = Object.entries(of).every(([column, wanted]) => said.get(column) === wanted);
    return fits && typeof value === 'number' ? [value] : [];
  });
  return values.length === 0 ? Number.NaN : Math.max(...values);
}
