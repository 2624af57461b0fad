import { parseArgs } from 'node:util';

export interface Flags {
  /** Jobs for our pools, re-runs included. */
  jobs: number;
  /** Share of deliveries that GitHub fails to deliver at first, 0 to 0.9. */
  loss: number;
  /** Start the console too, and stay up after the summary, until Ctrl-C. */
  keep: boolean;
  /** After the jobs, bring others into every state that the console can explain; implies `keep`. */
  tour: boolean;
  /** End with one JSON object on stdout. */
  json: boolean;
  cluster: 'simulated' | 'real';
}

export const USAGE = `Usage: npx -y pnpm@12 demo [--jobs N] [--loss P] [--keep] [--tour] [--json] [--cluster simulated|real]

  --jobs N     how many jobs run, 1 to 10000 (50)
  --loss P     share of deliveries that fail at first, 0 to 0.9 (0)
  --keep       with the console; stay up afterwards, until Ctrl-C
  --tour       then jobs in every state worth seeing, as --keep
  --json       the last line of stdout is one JSON object
  --cluster    "real" uses the cluster that KUBECONFIG names (simulated)
  DATABASE_URL names a PostgreSQL to use instead of the embedded one; the demo works in a schema of its own there.
`;

/** Reads the command line and reports all problems at once. `kubeconfigFile`: of a real cluster. */
export function readFlags(
  argv: readonly string[],
  kubeconfigFile?: string,
): { flags: Flags } | { problems: string[] } {
  try {
    const { values } = parseArgs({
      args: argv.filter((argument) => argument !== '--'),
      strict: true,
      options: {
        jobs: { type: 'string', default: '50' },
        loss: { type: 'string', default: '0' },
        keep: { type: 'boolean', default: false },
        tour: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        cluster: { type: 'string', default: 'simulated' },
      },
    });
    const problems: string[] = [];
    const jobs = Number(values.jobs);
    if (!Number.isInteger(jobs) || jobs < 1 || jobs > 10_000)
      problems.push(`--jobs must be a whole number from 1 to 10000, not ${values.jobs}`);
    const loss = values.loss.trim() === '' ? Number.NaN : Number(values.loss);
    if (!(loss >= 0 && loss <= 0.9))
      problems.push(`--loss must be a number from 0 to 0.9, not ${values.loss}`);
    const { tour, json, cluster } = values;
    if (cluster !== 'simulated' && cluster !== 'real')
      return { problems: [...problems, `--cluster must be simulated or real, not ${cluster}`] };
    if (cluster === 'real' && kubeconfigFile === undefined)
      problems.push('--cluster real needs KUBECONFIG: the file that names the cluster');
    if (tour && cluster === 'real')
      problems.push('--tour needs the simulated cluster: a real one does not fail as asked');
    return problems.length > 0
      ? { problems }
      : { flags: { jobs, loss, keep: values.keep || tour, tour, json, cluster } };
  } catch (error) {
    return { problems: [error instanceof Error ? error.message : String(error)] };
  }
}
