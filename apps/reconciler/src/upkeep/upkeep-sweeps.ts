import { done } from '@paddock/queue/outcome';
import { sweepTask } from '../schedules/sweep-schedules.ts';
import type { Sweep, SweepContext } from '../sweep.ts';
import { checkApps } from './check-apps.ts';
import { upkeep } from './upkeep.ts';

/** A pass with as much of each part ends well within its task's time. */
const BOUNDS = { batch: 1_000, maxBatches: 100, maxHours: 200 };

/** The sweeps that check the Apps, and that sum up and remove old rows. */
export function upkeepSweeps({ db, github, config, events }: SweepContext) {
  return {
    'check-apps': {
      slots: 1,
      pass: async (pass) => {
        const { installationsGoneAtMost: goneAtMost } = config;
        const { waitMs, ...counts } = await checkApps({ db, github, events, goneAtMost }, pass);
        return done(counts, waitMs > 0 ? [{ ...sweepTask('check-apps'), dueInMs: waitMs }] : []);
      },
    },
    upkeep: {
      slots: 1,
      pass: async ({ signal }) => {
        const { counts, failed, isMore } = await upkeep({ db, config, signal, ...BOUNDS });
        if (failed.length > 0) throw new Error(failed.join('; '));
        return done(counts, isMore ? [sweepTask('upkeep')] : []);
      },
    },
  } satisfies Readonly<Record<string, Sweep>>;
}
