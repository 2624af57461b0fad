import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import type { Bench } from '../bench.ts';
import { medianOf, quantileOf, toHundredths } from '../figures.ts';
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
    return { tables: { runs: runs.map(toResult) } };
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

/** From the webhook to the pod: `alone_…` of jobs that come one at a time. */
const toResult = ({ latencies, idleLatencies, ...measured }: Measured): object => ({
  organizations: measured.organizations,
  jobs: measured.jobs,
  seconds: toHundredths(measured.seconds),
  p50_ms: toHundredths(medianOf(latencies)),
  p99_ms: toHundredths(quantileOf(latencies, 0.99)),
  alone_p50_ms: toHundredths(medianOf(idleLatencies)),
  alone_p99_ms: toHundredths(quantileOf(idleLatencies, 0.99)),
  github_calls_per_job: toHundredths(measured.githubCallsPerJob),
  statements_per_job: toHundredths(measured.statementsPerJob),
  excess_workers: measured.excessWorkers,
});
