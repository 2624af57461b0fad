import { alignColumns, medianOf, quantileOf, toHundredths } from '../figures.ts';
import type { Measured } from './measure.ts';

const quantiles = (latencies: readonly number[]) => ({
  p50: toHundredths(medianOf(latencies)),
  p99: toHundredths(quantileOf(latencies, 0.99)),
});

/** The result by the names of the JSON object. */
export function toResult(measured: Measured): object {
  return {
    organizations: measured.organizations,
    jobs: measured.jobs,
    seconds: toHundredths(measured.seconds),
    webhook_to_pod_ms: quantiles(measured.latencies),
    idle_webhook_to_pod_ms: quantiles(measured.idleLatencies),
    github_calls_per_job: toHundredths(measured.githubCallsPerJob),
    statements_per_job: toHundredths(measured.statementsPerJob),
    excess_workers: measured.excessWorkers,
  };
}

const latencyRow = (name: string, latencies: readonly number[]): string[] => [
  name,
  medianOf(latencies).toFixed(1),
  quantileOf(latencies, 0.99).toFixed(1),
];

/** The table for people. */
export function tableOf(measured: Measured): string {
  const { organizations, jobs, seconds, githubCallsPerJob, statementsPerJob, excessWorkers } =
    measured;
  return [
    alignColumns([
      ['webhook to pod', 'p50 ms', 'p99 ms'],
      latencyRow('one at a time', measured.idleLatencies),
      latencyRow('  its parts', measured.idleParts),
      latencyRow('burst', measured.latencies),
    ]),
    '',
    `${jobs} jobs of ${organizations} ${organizations === 1 ? 'organisation' : 'organisations'} at once: all pods after ${seconds.toFixed(2)} s (${Math.round(jobs / seconds)} pods/s)`,
    `GitHub calls per job ${githubCallsPerJob.toFixed(2)}, statements per job ${statementsPerJob.toFixed(2)}, excess workers ${excessWorkers}`,
    `CPU ms per job: ${Object.entries(measured.cpuPerJob)
      .map(([name, ms]) => `${name} ${ms.toFixed(1)}`)
      .join(', ')}`,
    'Parts: two commits and three calls over the loopback, measured between the jobs.',
  ].join('\n');
}
