import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
import type { Service } from '../stage/service.ts';
import type { Environment } from '../stage/environment.ts';
import type { Stage } from '../stage/stage.ts';
import type { Beginning, Progress } from './fault.ts';
import { github, until } from './strikes.ts';

/**
 * How long a service works before it is killed again, and how often each is killed at least, even
 * if they start slowly.
 */
const BETWEEN_KILLS_MS = 3_000;
export const KILLS_OF_EACH = 3;
const GLANCE_EVERY_MS = 5;

/**
 * Each service independently, so that any of them may be away while another is; the scheduler as
 * soon as it makes a worker. The work of a killed service must continue from that moment.
 */
export const servicesKilled =
  (from: number): Beginning =>
  ({ environments }, progress) => {
    const killAgainAndAgain = async (
      service: Service,
      untilAtWork: () => Promise<void>,
    ): Promise<void> => {
      for (let kills = 0; kills < KILLS_OF_EACH || progress.share() < 1; kills++) {
        await sleep(BETWEEN_KILLS_MS);
        await untilAtWork();
        await service.kill();
        progress.over();
        await service.start();
      }
    };
    const killAll = ({ services, scheduler, db }: Environment) =>
      services.map((service) =>
        killAgainAndAgain(service, () =>
          service === scheduler ? untilWorkerIsMade(scheduler, db, progress) : Promise.resolve(),
        ),
      );
    return Promise.resolve(async () => {
      await progress.reached(from);
      await Promise.all(environments.flatMap(killAll));
    });
  };

/**
 * Resolves while a task that makes a worker is at work, with the scheduler frozen so that it is
 * killed in the midst of it; or after a while without any, when all jobs are queued.
 */
async function untilWorkerIsMade(scheduler: Service, db: Db, progress: Progress): Promise<void> {
  const deadline = performance.now() + BETWEEN_KILLS_MS;
  while (performance.now() < deadline || progress.share() < 1) {
    if (await isWorkerMade(db)) {
      scheduler.freeze();
      // On a busy machine, the task may have ended since it was seen.
      if (await isWorkerMade(db)) return;
      scheduler.thaw();
    }
    await sleep(GLANCE_EVERY_MS);
  }
}

/** A database that is away shows no tasks. */
const isWorkerMade = (db: Db): Promise<boolean> =>
  sql`select from tasks where kind = 'provision-worker' and status = 'running' limit 1`
    .execute(db)
    .then(({ rows }) => rows.length > 0)
    .catch(() => false);

export const KILLS_WHILE_IT_TRIES = 20;
export const goAway = github({ path: '', status: 500 });

/**
 * GitHub, which is away, comes back, and the scheduler is killed with its first call: the fresh one
 * finds what the dead one has left. So it goes twenty times.
 */
export async function killWhileItTries(stage: Stage): Promise<void> {
  const { services, scheduler, db } = stage.environment;
  const untilAway = until(
    async () => (await db.selectFrom('outages').select('service').execute()).length === 1,
    'No scheduler has noted that GitHub is away.',
  );
  // It asks GitHub too, and would tell the scheduler.
  await services.at(-1)?.kill();
  for (let kill = 0; kill < KILLS_WHILE_IT_TRIES; kill++) {
    await untilAway(stage);
    await goAway.end(stage);
    await untilAsked(stage);
    await scheduler.kill();
    await goAway.start(stage);
    await scheduler.start();
  }
}

async function untilAsked(stage: Stage): Promise<void> {
  const readCalls = async (): Promise<number> =>
    Object.values((await stage.github.report()).calls).reduce((sum, calls) => sum + calls, 0);
  const before = await readCalls();
  while ((await readCalls()) === before) await sleep(GLANCE_EVERY_MS);
}
