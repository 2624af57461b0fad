import { parseArgs } from 'node:util';

/** One measurement of `bench NAME`, with its alternatives in the same run. */
export interface Bench {
  /** One line for the usage. */
  readonly about: string;
  /** Its numbers by their flags, as `jobs`, with the defaults. */
  readonly numbers: Readonly<Record<string, number>>;
  /** The flag that measures one part of it alone. */
  readonly part?: { readonly flag: string; readonly of: readonly string[] };
  /**
   * Measures; `say` takes lines of progress. The rows of each table are printed for people, with the
   * notes, and are the line of `--json`. `failed`: a measured value is outside its bounds.
   */
  run(
    given: { readonly numbers: Readonly<Record<string, number>>; readonly part?: string },
    say: (line: string) => void,
  ): Promise<{
    readonly tables: Readonly<Record<string, readonly object[]>>;
    readonly notes?: string;
    readonly failed?: boolean;
  }>;
}

type Benches = Readonly<Record<string, Bench>>;

export interface Wanted {
  readonly bench: Bench;
  readonly given: Parameters<Bench['run']>[0];
  /** End with one JSON object on stdout. */
  readonly json: boolean;
}

/** Reads the command line; or says what is wrong with it, and the usage. */
export function readFlags(argv: readonly string[], benches: Benches): Wanted | string {
  try {
    return read(
      argv.filter((argument) => argument !== '--'),
      benches,
    );
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n\n${usageOf(benches)}`;
  }
}

function read([name = '', ...args]: readonly string[], benches: Benches): Wanted {
  const bench = benches[name];
  if (bench === undefined)
    throw new Error(`say what to measure: ${Object.keys(benches).join(' or ')}`);
  const { numbers, part } = bench;
  const flags = [...Object.keys(numbers), ...(part === undefined ? [] : [part.flag])];
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'boolean' },
      ...Object.fromEntries(flags.map((flag) => [flag, { type: 'string' }] as const)),
    },
  });
  const given = values as Readonly<Record<string, string | undefined>>;
  const wanted = part === undefined ? undefined : given[part.flag];
  if (part !== undefined && wanted !== undefined && !part.of.includes(wanted))
    throw new Error(`--${part.flag} must be one of ${part.of.join(', ')}`);
  return {
    bench,
    given: {
      numbers: Object.fromEntries(
        Object.entries(numbers).map(([flag, usual]) => [
          flag,
          numberOf(flag, given[flag] ?? usual),
        ]),
      ),
      ...(wanted !== undefined && { part: wanted }),
    },
    json: values.json === true,
  };
}

function numberOf(flag: string, said: unknown): number {
  const number = Number(said);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`--${flag} must be a whole number from 1 on, not ${String(said)}`);
}

const usageOf = (benches: Benches): string =>
  [
    'Usage: npx -y pnpm@12 bench NAME [--json] [flags]',
    '',
    ...Object.entries(benches).map(([name, { about, numbers, part }]) => {
      const flags = Object.entries(numbers).map(([flag, usual]) => `--${flag} N (${usual})`);
      const ofPart = part === undefined ? [] : [`--${part.flag} NAME: ${part.of.join(', ')}`];
      return [`  ${name.padEnd(10)} ${about}`, ...flags, ...ofPart].join('\n             ');
    }),
    '',
    '  --json     the last line of stdout is one JSON object',
    '',
  ].join('\n');
