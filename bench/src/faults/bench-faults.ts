import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import type { Bench } from '../bench.ts';
import { FAULTS } from './matrix.ts';
import { type Played, playFault } from './play-fault.ts';
import { tableOf, toResult } from './results.ts';
import { startStage } from './stage.ts';
import { SHORT, USUAL } from './times.ts';

/** For what has to time out or pause first, and for asking GitHub for several deliveries of each job, 180 a minute. */
const patienceMs = (jobs: number): number => 120_000 + jobs * 1_600;

export const faults: Bench = {
  about: 'jobs while something goes wrong: what is lost, left over or killed, for each fault',
  size: { flag: 'jobs', usual: 300, least: 1, most: 2_000 },
  part: { flag: 'fault', of: FAULTS.map(({ name }) => name) },
  async run(jobs, say, { part }) {
    const postgres = await startPostgres({ settings: { max_connections: '300' } });
    const rows: Played[] = [];
    try {
      for (const fault of FAULTS.filter(({ name }) => part === undefined || name === part)) {
        say(`${fault.name}: ${jobs} jobs`);
        const stage = await startStage(postgres, { ...fault, times: fault.atUsualTimes === true ? USUAL : SHORT });
        try {
          const row = await playFault(stage, fault, { jobs, patienceMs: patienceMs(jobs) });
          rows.push(row);
          say(`${fault.name}: ${row.unsettled.length === 0 ? 'settled' : row.unsettled.join('; ')} after ${row.seconds.toFixed(1)} s`);
        } finally {
          await stage.close();
        }
      }
    } finally {
      await postgres.stop({ mode: 'immediate' });
    }
    return { table: tableOf(rows), result: { rows: rows.map(toResult) }, failed: rows.some(({ unsettled }) => unsettled.length > 0) };
  },
};
