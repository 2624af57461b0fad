import type { GitHubControl } from '@paddock/simulators/github/control';
import { APP_ID } from '../app-id.ts';
import { LABELS } from './system.ts';

/** Long enough that none ends during the measurement. */
const JOB_MS = 600_000;
/** As many at a time as keep the simulated GitHub busy without a queue there. */
const AT_ONCE = 8;

/** A job, and when the bench asked GitHub to queue it, in milliseconds since the epoch. */
export interface QueuedJob {
  readonly id: number;
  readonly queuedAt: number;
}

export interface Demand {
  readonly queue: (count: number) => Promise<QueuedJob[]>;
}

/**
 * Makes organisations, which take equal turns to queue jobs. GitHub bounds the registrations of
 * each.
 */
export async function createDemand(
  github: GitHubControl,
  organisations: readonly string[],
): Promise<Demand> {
  for (const login of organisations) {
    await github.addOrganization({ login });
    await github.addRepository({ owner: login, name: 'shop', private: true });
    await github.install({ appId: APP_ID, account: login });
  }
  await github.settled();
  let turn = 0;
  const queueOne = async (): Promise<QueuedJob> => {
    const organisation = organisations[turn++ % organisations.length];
    const queuedAt = performance.timeOrigin + performance.now();
    const { id } = await github.queueJob({
      repo: `${organisation}/shop`,
      labels: LABELS,
      durationMs: JOB_MS,
    });
    return { id, queuedAt };
  };
  return {
    async queue(count) {
      const queued: QueuedJob[] = [];
      let left = count;
      const queueSome = async (): Promise<void> => {
        while (left-- > 0) queued.push(await queueOne());
      };
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, queueSome));
      return queued;
    },
  };
}
