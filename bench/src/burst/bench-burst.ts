import type { Bench } from '../bench.ts';
import { type Load, measure, type Measured } from './measure.ts';
import { tableOf, toResult } from './results.ts';
import { startSystem } from './system.ts';
import { openWatcher } from './watch.ts';

/**
 * GitHub lets one organisation register 180 runners a minute: more jobs would only wait for that.
 */
const MOST_JOBS_OF_ONE = 300;

export const burst: Bench = {
  about:
    'from webhook to pod: a burst of jobs of 1 and of 8 organisations, and one at a time, with calls and statements per job',
  size: { flag: 'jobs', usual: 1_000, least: 20, most: 5_000 },
  async run(jobs, say) {
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
  // If the runners ran jobs, we could not know which worker was made for which job, and the
  // simulators would do most of the work.
  const system = await startSystem({ services: ['scheduler'], idleRunners: true });
  try {
    const watcher = await openWatcher(system);
    try {
      return await measure(system, watcher, load, say);
    } finally {
      await watcher.close();
    }
  } finally {
    await system.close();
  }
}
