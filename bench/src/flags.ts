import { parseArgs } from 'node:util';

export interface Flags {
  /** How many tasks one throughput measurement runs. */
  readonly tasks: number;
  /** End with one JSON object on stdout. */
  readonly json: boolean;
}

export const USAGE = `Usage: npx -y pnpm@12 bench queue [--json] [--tasks N]

  queue        no-op tasks per second and enqueue-to-start latency, beside graphile-worker and pg-boss
  --json       the last line of stdout is one JSON object
  --tasks N    how many tasks one measurement runs, 1000 to 100000 (10000)
`;

/** Reads the command line; every problem is told at once. */
export function readFlags(argv: readonly string[]): { flags: Flags } | { problems: string[] } {
  try {
    const { values, positionals } = parseArgs({
      args: argv.filter((argument) => argument !== '--'),
      allowPositionals: true,
      options: { json: { type: 'boolean', default: false }, tasks: { type: 'string', default: '10000' } },
    });
    const problems: string[] = [];
    if (positionals.join(' ') !== 'queue') problems.push('say what to measure: queue');
    const tasks = Number(values.tasks);
    if (!Number.isInteger(tasks) || tasks < 1_000 || tasks > 100_000) {
      problems.push(`--tasks must be a whole number from 1000 to 100000, not ${values.tasks}`);
    }
    return problems.length > 0 ? { problems } : { flags: { tasks, json: values.json } };
  } catch (error) {
    return { problems: [error instanceof Error ? error.message : String(error)] };
  }
}
