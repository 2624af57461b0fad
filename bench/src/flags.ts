import { parseArgs } from 'node:util';
import type { Bench } from './bench.ts';

export interface Flags {
  readonly bench: Bench;
  readonly size: number;
  /** End with one JSON object on stdout. */
  readonly json: boolean;
}

type Benches = Readonly<Record<string, Bench>>;

export const usageOf = (benches: Benches): string =>
  [
    'Usage: npx -y pnpm@12 bench NAME [--json] [flags]',
    '',
    ...Object.entries(benches).map(([name, { about, size }]) => {
      const flag = `--${size.flag} N`.padEnd(14);
      return `  ${name.padEnd(10)} ${about}\n             ${flag} ${size.least} to ${size.most} (${size.usual})`;
    }),
    '',
    '  --json     the last line of stdout is one JSON object',
    '',
  ].join('\n');

/** Reads the command line; every problem is told at once. */
export function readFlags(argv: readonly string[], benches: Benches): { flags: Flags } | { problems: string[] } {
  const sizes = Object.values(benches).map(({ size }) => [size.flag, { type: 'string' }] as const);
  try {
    const { values, positionals } = parseArgs({
      args: argv.filter((argument) => argument !== '--'),
      allowPositionals: true,
      options: { json: { type: 'boolean' }, ...Object.fromEntries(sizes) },
    });
    const bench = benches[positionals.join(' ')];
    if (bench === undefined) return { problems: [`say what to measure: ${Object.keys(benches).join(' or ')}`] };
    const { json, ...given }: Record<string, unknown> = values;
    const { flag, usual, least, most } = bench.size;
    const problems = Object.keys(given)
      .filter((name) => name !== flag)
      .map((name) => `--${name} is no flag of bench ${positionals.join(' ')}`);
    const size = Number(given[flag] ?? usual);
    if (!Number.isInteger(size) || size < least || size > most) {
      problems.push(`--${flag} must be a whole number from ${least} to ${most}, not ${String(given[flag])}`);
    }
    return problems.length > 0 ? { problems } : { flags: { bench, size, json: json === true } };
  } catch (error) {
    return { problems: [error instanceof Error ? error.message : String(error)] };
  }
}
