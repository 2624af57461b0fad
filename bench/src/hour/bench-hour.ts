import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import type { Bench } from '../bench.ts';
import { playFault } from '../faults/play-fault.ts';
import { startStage } from '../faults/stage.ts';
import { UNTOUCHED } from '../faults/times.ts';
import { alignColumns } from '../figures.ts';

const MINUTE_MS = 60_000;
/** For the last job to end. Its pod is kept for hours. */
const PATIENCE_MS = 30_000;
/**
 * This share of the budgets that registrations need too: one call registers the runner, sweeps use
 * the rest.
 */
const MOST_CALLS_PER_JOB = 1.05;

/**
 * Reads the log of deliveries, from the App's own budget: three times the deliveries of a quarter
 * of an hour, in pages of 100.
 */
const LOG = 'apps/list-webhook-deliveries';

export const hour: Bench = {
  about: 'an hour without faults, at the default times: calls of GitHub per job, and which',
  size: { flag: 'jobs', usual: 3_600, least: 10, most: 10_000 },
  further: [{ flag: 'minutes', usual: 60, least: 1, most: 240 }],
  async run(jobs, say, { further: { minutes = 60 } }) {
    const postgres = await startPostgres();
    try {
      const stage = await startStage(postgres, { times: UNTOUCHED });
      try {
        say(`${jobs} jobs in ${minutes} minutes`);
        const played = await playFault(
          stage,
          { name: 'none', signs: {} },
          { jobs, patienceMs: PATIENCE_MS, lastsMs: minutes * MINUTE_MS },
        );
        const { calls, unchangedAnswers } = await stage.github.report();
        const counted = count(calls, unchangedAnswers);
        const { lost, runningKilled: killed, excessWorkers: excess } = played;
        return {
          table: `${tableOf(counted, jobs)}\n\nlost: ${lost}, killed: ${killed}, in excess: ${excess}`,
          result: {
            jobs,
            minutes,
            calls_per_job: counted.charged / jobs,
            calls,
            unchanged: unchangedAnswers,
            lost,
            killed,
            excess,
          },
          failed: lost > 0 || counted.charged > MOST_CALLS_PER_JOB * jobs,
        };
      } finally {
        await stage.close();
      }
    } finally {
      await postgres.stop({ mode: 'immediate' });
    }
  },
};

interface Counted {
  readonly calls: readonly (readonly [operation: string, count: number])[];
  readonly unchanged: number;
  readonly log: number;
  /**
   * Calls against the installations' budgets, and the few others against the App's budget, without
   * the log.
   */
  readonly charged: number;
}

function count(calls: Readonly<Record<string, number>>, unchanged: number): Counted {
  const all = Object.values(calls).reduce((sum, each) => sum + each, 0);
  const log = calls[LOG] ?? 0;
  return {
    calls: Object.entries(calls).toSorted(([, a], [, b]) => b - a),
    unchanged,
    log,
    charged: all - unchanged - log,
  };
}

function tableOf({ calls, unchanged, log, charged }: Counted, jobs: number): string {
  const left: readonly (readonly [string, number])[] = [
    ['answers of 304, which cost nothing', -unchanged],
    ['the delivery log, from the App’s own budget', -log],
    ['charged', charged],
  ];
  return alignColumns([
    ['call', 'count', 'per job'],
    ...[...calls, ...left].map(([what, each]) => [what, String(each), (each / jobs).toFixed(3)]),
  ]);
}
