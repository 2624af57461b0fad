import { afterEach, beforeEach } from '@jest/globals';
import type { Database } from '@paddock/db/schema/tables';
import type { GitHub } from '@paddock/github/connect';
import { probeGitHub } from '@paddock/github/probe';
import { late } from '@paddock/testing/use-test-database';
import type { Kysely } from 'kysely';
import { beginPass, type Pass, type PassOptions } from '../passes/pass.ts';

/** Options of a sweep, and of the pass that it runs in. */
export type Given<T> = Partial<T> & {
  readonly dryRun?: boolean;
  readonly pass?: Partial<PassOptions>;
};

/** The schedule of passes by hand; it has a row only where a test makes one. */
export const BY_HAND = 'by hand';

/** A pass by hand; no service is away. */
export const beginByHand = (db: Kysely<Database>, given: Partial<PassOptions> = {}) =>
  beginPass({
    db,
    schedule: BY_HAND,
    task: { subject: { type: 'schedule', id: BY_HAND, name: null }, payload: {} },
    signal: new AbortController().signal,
    dryRun: false,
    isAway: () => Promise.resolve(false),
    ...given,
  });

export const passOf = async (
  db: Kysely<Database>,
  given: Partial<PassOptions> = {},
): Promise<Pass> => (await beginByHand(db, given)).pass;

/** Asks the simulated GitHub; the cluster is never away. */
export const githubIsAway =
  (github: GitHub): PassOptions['isAway'] =>
  async (service) =>
    service === 'github' && (await probeGitHub(github, new AbortController().signal)) !== undefined;

/**
 * Makes a schedule whose passes have failed on the organisation three times, over two hours. Returns
 * its name.
 */
export async function putFailedLong(db: Kysely<Database>, entityId: number): Promise<string> {
  const since = Date.now() - 2 * 3_600_000;
  const failing = { [`${entityId} 0`]: { times: 3, since, dueAt: since } };
  const name = 'failing for long';
  const row = { name, last_tick_at: new Date(), last_pass: JSON.stringify({ failing }) };
  await db.insertInto('schedules').values(row).execute();
  return name;
}

/** A scene for each test, stopped after it. */
export function useScene<T extends { stop(): Promise<void> }>(start: () => Promise<T>): T {
  let scene: T;
  beforeEach(async () => {
    scene = await start();
  });
  afterEach(() => scene.stop());
  return late(() => scene);
}
