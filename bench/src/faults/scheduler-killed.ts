import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, Hit } from './fault.ts';
import { failGitHub, untilWhyNames } from './one-hit.ts';
import { type Stage, UMBRA_REPOSITORIES } from './stage.ts';
import { until } from './windows.ts';

const KILLS = 20;
const GLANCE_EVERY_MS = 5;
const ALL_WAIT: Hit = { repositories: UMBRA_REPOSITORIES, first: 40 };

/**
 * GitHub goes away and comes back, and the scheduler is killed with its first call: the fresh one
 * finds what the dead one has left. So it goes twenty times. Others' jobs come after the last time.
 */
export const schedulerKilled: Fault = {
  name: 'scheduler-killed-while-it-tries',
  // A fresh one believes what the dead one has noted, and asks GitHub only once that is back.
  signs: { servicesKilled: KILLS + 1, githubErrors: 1 },
  atUsualTimes: true,
  hit: ALL_WAIT,
  begin: async (stage, progress) => {
    const { environments, github } = stage;
    const goAway = failGitHub({ path: '', status: 500 });
    await goAway(stage);
    const isOver = Promise.withResolvers<void>();
    progress.holdUp(isOver.promise);
    return async () => {
      const { services = [], scheduler, db } = environments[0] ?? {};
      // It asks GitHub too, and would tell the scheduler.
      const reconciler = services.at(-1);
      const isAway = async () =>
        (await db?.selectFrom('outages').select('service').execute())?.length === 1;
      try {
        await reconciler?.kill();
        for (let kill = 0; kill < KILLS; kill++) {
          await until(isAway, 'No scheduler has noted that GitHub is away.');
          await github.clearCallFaults();
          await untilAsked(stage);
          await scheduler?.kill();
          await goAway(stage);
          await scheduler?.start();
        }
        await untilWhyNames(stage, ALL_WAIT, /^github_unavailable: /);
      } finally {
        await github.clearCallFaults();
        progress.over();
        isOver.resolve();
        await reconciler?.start();
      }
    };
  },
};

async function untilAsked({ github }: Stage): Promise<void> {
  const readCalls = async (): Promise<number> =>
    Object.values((await github.report()).calls).reduce((sum, calls) => sum + calls, 0);
  const before = await readCalls();
  while ((await readCalls()) === before) await sleep(GLANCE_EVERY_MS);
}
