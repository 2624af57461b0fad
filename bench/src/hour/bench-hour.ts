import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import type { Bench } from '../bench.ts';
import { playFault } from '../faults/play-fault.ts';
import { startStage } from '../faults/stage.ts';
import { UNTOUCHED } from '../faults/times.ts';
import { alignColumns, toHundredths } from '../figures.ts';

const MINUTE_MS = 60_000;
/** For the last job to end. Its pod is kept for hours. */
const PATIENCE_MS = 30_000;
/** One registers the runner; the rest goes to sweeps. An answer of 304 costs nothing and is not counted. */
const MOST_CALLS_PER_JOB = 1.05;

export const hour: Bench = {
  about: 'an hour in which nothing goes wrong, at the usual times: calls of GitHub per job, and which',
  size: { flag: 'jobs', usual: 2_400, least: 10, most: 10_000 },
  further: [{ flag: 'minutes', usual: 60, least: 1, most: 240 }],
  async run(jobs, say, { further: { minutes = 60 } }) {
    const postgres = await startPostgres();
    try {
      const stage = await startStage(postgres, { times: UNTOUCHED });
      try {
        say(`${jobs} jobs in ${minutes} minutes`);
        const played = await playFault(stage, { name: 'none', signs: {} }, { jobs, patienceMs: PATIENCE_MS, lastsMs: minutes * MINUTE_MS });
        const { calls, unchangedAnswers } = await stage.github.report();
        const counted = count(calls, unchangedAnswers);
        const { lost, runningKilled: killed, excessWorkers: excess } = played;
        return {
          table: `${tableOf(counted, jobs)}\n\nlost: ${lost}, killed: ${killed}, in excess: ${excess}`,
          result: {
            jobs,
            minutes,
            calls_per_job: toHundredths(counted.charged / jobs),
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
  /** What GitHub counts against a budget. */
  readonly charged: number;
}

function count(calls: Readonly<Record<string, number>>, unchanged: number): Counted {
  const all = Object.values(calls).reduce((sum, each) => sum + each, 0);
  return { calls: Object.entries(calls).toSorted(([, a], [, b]) => b - a), unchanged, charged: all - unchanged };
}

function tableOf({ calls, unchanged, charged }: Counted, jobs: number): string {
  const rows: readonly (readonly [string, number])[] = [...calls, ['answers of 304, for nothing', -unchanged], ['charged', charged]];
  return alignColumns([['call', 'count', 'per job'], ...rows.map(([what, each]) => [what, String(each), (each / jobs).toFixed(3)])]);
}
