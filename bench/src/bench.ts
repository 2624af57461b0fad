import { parseArgs } from 'node:util';

/**
 * How large a bench is: the thing it counts, its flag, and the default, least and greatest number.
 */
export interface Size {
  readonly flag: string;
  readonly usual: number;
  readonly least: number;
  readonly most: number;
}

/** One measurement of `bench NAME`, with its alternatives in the same run. */
export interface Bench {
  /** One line for the usage. */
  readonly about: string;
  readonly size: Size;
  /** More numbers, each with a flag. */
  readonly further?: readonly Size[];
  /** The flag that measures one part of it alone. */
  readonly part?: { readonly flag: string; readonly of: readonly string[] };
  /**
   * Measures; `say` takes lines of progress. The table is for people, the result is the line of
   * `--json`. `failed`: a measured value is outside its bounds.
   */
  run(
    size: number,
    say: (line: string) => void,
    given: { readonly part?: string; readonly further: Readonly<Record<string, number>> },
  ): Promise<{ table: string; result: object; failed?: boolean }>;
}

export interface Flags {
  readonly bench: Bench;
  readonly size: number;
  /** The only part to measure; absent: all. */
  readonly part?: string;
  /** The other numbers, by their flags. */
  readonly further: Readonly<Record<string, number>>;
  /** End with one JSON object on stdout. */
  readonly json: boolean;
}

type Benches = Readonly<Record<string, Bench>>;

export const usageOf = (benches: Benches): string =>
  [
    'Usage: npx -y pnpm@12 bench NAME [--json] [flags]',
    '',
    ...Object.entries(benches).map(([name, bench]) => usageOfOne(name, bench)),
    '',
    '  --json     the last line of stdout is one JSON object',
    '',
  ].join('\n');

const lineOf = (flag: string, meaning: string): string =>
  `\n             ${flag.padEnd(14)} ${meaning}`;

function usageOfOne(name: string, { about, size, further = [], part }: Bench): string {
  const ofSize = [size, ...further]
    .map(({ flag, least, most, usual }) => lineOf(`--${flag} N`, `${least} to ${most} (${usual})`))
    .join('');
  const ofPart =
    part === undefined ? '' : lineOf(`--${part.flag} NAME`, `one of ${part.of.join(', ')}`);
  return `  ${name.padEnd(10)} ${about}${ofSize}${ofPart}`;
}

/** Reads the command line and reports all problems at once. */
export function readFlags(
  argv: readonly string[],
  benches: Benches,
): { flags: Flags } | { problems: string[] } {
  const flags = Object.values(benches).flatMap(flagsOf);
  try {
    const { values, positionals } = parseArgs({
      args: argv.filter((argument) => argument !== '--'),
      allowPositionals: true,
      options: {
        json: { type: 'boolean' },
        ...Object.fromEntries(flags.map((flag) => [flag, { type: 'string' }] as const)),
      },
    });
    const bench = benches[positionals.join(' ')];
    if (bench === undefined)
      return { problems: [`say what to measure: ${Object.keys(benches).join(' or ')}`] };
    const { json, ...given }: Record<string, unknown> = values;
    const problems = Object.keys(given)
      .filter((name) => !flagsOf(bench).includes(name))
      .map((name) => `--${name} is not a flag of bench ${positionals.join(' ')}`);
    const size = readSize(bench.size, given, problems);
    const further = Object.fromEntries(
      (bench.further ?? []).map((one) => [one.flag, readSize(one, given, problems)]),
    );
    const part = readPart(bench, given, problems);
    return problems.length > 0
      ? { problems }
      : { flags: { bench, size, further, ...part, json: json === true } };
  } catch (error) {
    return { problems: [error instanceof Error ? error.message : String(error)] };
  }
}

const flagsOf = ({ size, further = [], part }: Bench): string[] => [
  ...[size, ...further].map(({ flag }) => flag),
  ...(part === undefined ? [] : [part.flag]),
];

function readSize(
  { flag, usual, least, most }: Size,
  given: Readonly<Record<string, unknown>>,
  problems: string[],
): number {
  const size = Number(given[flag] ?? usual);
  if (!Number.isInteger(size) || size < least || size > most) {
    problems.push(
      `--${flag} must be a whole number from ${least} to ${most}, not ${String(given[flag])}`,
    );
  }
  return size;
}

function readPart(
  { part }: Bench,
  given: Readonly<Record<string, unknown>>,
  problems: string[],
): { part?: string } {
  const wanted = part === undefined ? undefined : given[part.flag];
  if (part === undefined || wanted === undefined) return {};
  const found = part.of.find((name) => name === wanted);
  if (found === undefined)
    problems.push(
      `--${part.flag} must be one of ${part.of.join(', ')}, not ${JSON.stringify(wanted)}`,
    );
  return found === undefined ? {} : { part: found };
}
