import type { Bench } from '../bench.ts';
import { measure } from './measure.ts';
import { tableOf, toResult } from './results.ts';
import { startSystem } from './system.ts';
import { openWatcher } from './watch.ts';

export const burst: Bench = {
  about: 'from webhook to pod: a burst of jobs, and one at a time, with calls and statements per job',
  size: { flag: 'jobs', usual: 1_000, least: 20, most: 5_000 },
  async run(jobs, say) {
    say('starting PostgreSQL, the simulated GitHub and cluster, ingress and scheduler');
    // Did the runners run jobs, it would not be known which worker was made for which job, and the simulators would do most of the work.
    const system = await startSystem({ services: ['scheduler'], idleRunners: true });
    try {
      const watcher = await openWatcher(system);
      try {
        const measured = await measure(system, watcher, jobs, say);
        return { table: tableOf(measured), result: toResult(measured) };
      } finally {
        await watcher.close();
      }
    } finally {
      await system.close();
    }
  },
};
