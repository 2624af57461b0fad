import type { Bench } from '../bench.ts';
import { medianOf, quantileOf, toHundredths } from '../figures.ts';
import { onStage } from '../stage/stage.ts';
import { UNTOUCHED } from '../stage/times.ts';
import { type Load, measure } from './measure.ts';

/**
 * GitHub lets one organisation register 180 runners a minute: more jobs would only wait for that.
 */
const MOST_JOBS_OF_ONE = 300;

export const burst: Bench<'jobs'> = {
  about:
    'from webhook to pod: a burst of jobs of 1 and of 8 organisations, and one at a time, with calls and statements per job',
  numbers: { jobs: 1_000 },
  async run({ jobs }) {
    const loads = [
      { organizations: 1, jobs: Math.min(jobs, MOST_JOBS_OF_ONE) },
      { organizations: 8, jobs },
    ];
    const runs: object[] = [];
    for (const load of loads) runs.push(await measureLoad(load));
    return { tables: { runs } };
  },
};

/** From the webhook to the pod: `alone_…` of jobs that come one at a time. */
const measureLoad = (load: Load): Promise<object> =>
  onStage(
    { durable: true, settings: { shared_preload_libraries: 'pg_stat_statements' } },
    // If the runners ran jobs, we could not know which worker was made for which job, and the
    // simulators would do most of the work.
    { times: UNTOUCHED, idleRunners: true, withoutReconciler: true },
    async (stage) => {
      const { latencies, idleLatencies, ...measured } = await measure(stage, load);
      return {
        ...load,
        seconds: toHundredths(measured.seconds),
        p50_ms: toHundredths(medianOf(latencies)),
        p99_ms: toHundredths(quantileOf(latencies, 0.99)),
        alone_p50_ms: toHundredths(medianOf(idleLatencies)),
        alone_p99_ms: toHundredths(quantileOf(idleLatencies, 0.99)),
        github_calls_per_job: toHundredths(measured.githubCallsPerJob),
        statements_per_job: toHundredths(measured.statementsPerJob),
        excess_workers: measured.excessWorkers,
      };
    },
  );
