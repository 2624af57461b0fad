import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import type { Beginning, Progress } from './fault.ts';
import type { Service } from './service.ts';
import type { Stage } from './stage.ts';
import { during, type Window } from './windows.ts';

/**
 * How long a service works before it is killed again, and how often each is killed at least, even
 * if they start slowly.
 */
const BETWEEN_KILLS_MS = 3_000;
export const KILLS_OF_EACH = 3;

/**
 * Each service independently, so that any of them may be away while another is; the scheduler as
 * soon as it makes a worker. The work of a killed service must continue from that moment.
 */
export const servicesKilled = ([from, to]: Window): Beginning =>
  during(async ({ environments }, progress) => {
    await progress.reached(from);
    const killAgainAndAgain = async (
      service: Service,
      untilAtWork: () => Promise<void>,
    ): Promise<void> => {
      for (let kills = 0; kills < KILLS_OF_EACH || progress.share() < to; kills++) {
        await sleep(BETWEEN_KILLS_MS);
        await untilAtWork();
        await service.kill();
        progress.over();
        await service.start();
      }
    };
    const killAll = ({ services, scheduler, db }: Stage['environments'][number]) =>
      services.map((each) =>
        killAgainAndAgain(
          each,
          each === scheduler
            ? () => untilWorkerIsMade(scheduler, db, progress)
            : () => Promise.resolve(),
        ),
      );
    await Promise.all(environments.flatMap(killAll));
  });

/**
 * Resolves while a task that makes a worker is at work, with the scheduler frozen so that it is
 * killed in the midst of it; or after a while without any, when all jobs are queued.
 */
async function untilWorkerIsMade(
  scheduler: Service,
  db: Kysely<Database>,
  progress: Progress,
): Promise<void> {
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
const GLANCE_EVERY_MS = 5;

/** A database that is away shows no tasks. */
const isWorkerMade = (db: Kysely<Database>): Promise<boolean> =>
  sql`select from tasks where kind = 'provision-worker' and status = 'running' limit 1`
    .execute(db)
    .then(
      ({ rows }) => rows.length > 0,
      () => false,
    );
