import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import type { Bench } from '../bench.ts';
import { alignColumns, medianOf, quantileOf, toHundredths } from '../figures.ts';
import { startStage } from '../stage/stage.ts';
import { UNTOUCHED } from '../stage/times.ts';
import { type Load, measure, type Measured } from './measure.ts';
import { openWatcher } from './watch.ts';

/**
 * GitHub lets one organisation register 180 runners a minute: more jobs would only wait for that.
 */
const MOST_JOBS_OF_ONE = 300;

export const burst: Bench = {
  about:
    'from webhook to pod: a burst of jobs of 1 and of 8 organisations, and one at a time, with calls and statements per job',
  numbers: { jobs: 1_000 },
  async run({ numbers: { jobs = 0 } }, say) {
    const loads: Load[] = [
      { organizations: 1, jobs: Math.min(jobs, MOST_JOBS_OF_ONE) },
      { organizations: 8, jobs },
    ];
    const runs: Measured[] = [];
    for (const load of loads) runs.push(await measureLoad(load, say));
    return { table: runs.map(tableOf).join('\n\n'), result: { runs: runs.map(toResult) } };
  },
};

async function measureLoad(load: Load, say: (line: string) => void): Promise<Measured> {
  say('starting PostgreSQL, the simulated GitHub and cluster, ingress and scheduler');
  const postgres = await startPostgres({
    durable: true,
    settings: { shared_preload_libraries: 'pg_stat_statements' },
  });
  try {
    // If the runners ran jobs, we could not know which worker was made for which job, and the
    // simulators would do most of the work.
    const stage = await startStage(postgres, {
      times: UNTOUCHED,
      idleRunners: true,
      withoutReconciler: true,
    });
    try {
      const watcher = await openWatcher(stage);
      try {
        return await measure(stage, watcher, load, say);
      } finally {
        await watcher.close();
      }
    } finally {
      await stage.close();
    }
  } finally {
    await postgres.stop();
  }
}

const quantiles = (latencies: readonly number[]) => ({
  p50: toHundredths(medianOf(latencies)),
  p99: toHundredths(quantileOf(latencies, 0.99)),
});

/** The result by the names of the JSON object. */
const toResult = (measured: Measured): object => ({
  organizations: measured.organizations,
  jobs: measured.jobs,
  seconds: toHundredths(measured.seconds),
  webhook_to_pod_ms: quantiles(measured.latencies),
  idle_webhook_to_pod_ms: quantiles(measured.idleLatencies),
  github_calls_per_job: toHundredths(measured.githubCallsPerJob),
  statements_per_job: toHundredths(measured.statementsPerJob),
  excess_workers: measured.excessWorkers,
});

const latencyRow = (name: string, latencies: readonly number[]): string[] => [
  name,
  medianOf(latencies).toFixed(1),
  quantileOf(latencies, 0.99).toFixed(1),
];

/** The table for people. */
function tableOf(measured: Measured): string {
  const { organizations, jobs, seconds, githubCallsPerJob, statementsPerJob, excessWorkers } =
    measured;
  return [
    alignColumns([
      ['webhook to pod', 'p50 ms', 'p99 ms'],
      latencyRow('one at a time', measured.idleLatencies),
      latencyRow('burst', measured.latencies),
    ]),
    '',
    `${jobs} jobs of ${organizations} ${organizations === 1 ? 'organisation' : 'organisations'} at once: all pods after ${seconds.toFixed(2)} s (${Math.round(jobs / seconds)} pods/s)`,
    `GitHub calls per job ${githubCallsPerJob.toFixed(2)}, statements per job ${statementsPerJob.toFixed(2)}, excess workers ${excessWorkers}`,
  ].join('\n');
}
