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

/** What one figure of a bench should be. */
interface Goal {
  readonly bench: string;
  readonly figure: string;
  /** The columns of its row; the largest of all that fit counts. */
  readonly of: Columns;
  /** What it is divided by: another figure of the row, or the same of the row with these columns. */
  readonly by: string | Columns | undefined;
  readonly limit: number;
  readonly isLeast: boolean;
}

const goal =
  (isLeast: boolean) =>
  (limit: number, bench: string, figure: string, of: Columns = {}, by?: Goal['by']): Goal => ({
    bench,
    figure,
    of,
    by,
    limit,
    isLeast,
  });
const atLeast = goal(true);
const atMost = goal(false);

const at = (connections: number, variant = 'paddock') => ({ variant, connections });
const slots = (number: number, variant = 'paddock') => ({ variant, slots: number });

/** What the project wants of its speed, in ratios where the machine would decide otherwise. */
const GOALS: readonly Goal[] = [
  atLeast(1.3, 'ingress', 'of_plain', at(1)),
  atLeast(2.5, 'ingress', 'of_plain', at(16)),
  atLeast(4, 'ingress', 'of_plain', at(64)),
  atLeast(5, 'ingress', 'of_plain', at(256)),
  atMost(0.7, 'ingress', 'p50_ms', at(1), at(1, 'plain')),
  atMost(1, 'ingress', 'p99_ms', at(1), at(1, 'plain')),
  atMost(5, 'match', 'per_key_ms', { waiting: 1_000 }, 'floor_ms'),
  atMost(5, 'match', 'per_key_ms', { waiting: 10_000 }, 'floor_ms'),
  atMost(3, 'match', 'per_key_ms', { waiting: 100_000 }, 'floor_ms'),
  atMost(20, 'match', 'pass_ms', { waiting: 1_000 }),
  atMost(40, 'match', 'pass_ms', { waiting: 10_000 }),
  atMost(40, 'match', 'pass_ms', { waiting: 100_000 }),
  atLeast(1, 'queue', 'of_graphile', slots(16)),
  atLeast(1, 'queue', 'of_graphile', slots(64)),
  atLeast(1.1, 'queue', 'of_graphile', slots(500)),
  atMost(0.8, 'queue', 'start_p50_ms', slots(16), slots(16, 'graphile')),
  atMost(1, 'queue', 'start_p99_ms', slots(16), slots(16, 'graphile')),
  atMost(3, 'burst', 'seconds', { organizations: 8 }),
  atMost(10, 'burst', 'alone_p50_ms'),
  atMost(30, 'burst', 'alone_p99_ms'),
  atMost(1_000, 'burst', 'ready_ms'),
  atMost(120, 'burst', 'idle_mb'),
  atMost(20, 'growth', 'ms'),
  atMost(50, 'growth', 'more_ms'),
  atMost(50, 'growth', 'p95_ms'),
];

/** How far a goal may be missed before the run fails. */
const SLACK = 0.15;

/** The goals of a bench with what it has measured. A goal without a figure is missed. */
function judge(bench: string, tables: Tables) {
  return GOALS.filter((one) => one.bench === bench).map(({ figure, of, by, limit, isLeast }) => {
    const divisor =
      typeof by === 'string' ? numberOf(tables, by, of) : numberOf(tables, figure, by);
    const value = numberOf(tables, figure, of) / (by === undefined ? 1 : divisor);
    const isMet = isLeast ? value >= limit * (1 - SLACK) : value <= limit * (1 + SLACK);
    const what = [bench, ...Object.values(of), figure].join(' ');
    const over = typeof by === 'string' ? by : (Object.values(by ?? {})[0] ?? '');
    return {
      what,
      over,
      value: toHundredths(value),
      goal: `${isLeast ? '≥' : '≤'} ${limit}`,
      isMet,
    };
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
