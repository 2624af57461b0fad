import {
  DELETING_SWEEPS,
  REDELIVER,
  SCHEDULED_SWEEPS,
  SWEEP_ATTEMPTS,
} from '@paddock/domain/tasks/sweep-names';
import { z } from 'zod';
import { note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { instantOfDay } from '../lists/dates.ts';
import { operation } from '../operations/operation.ts';
import { startOperation, startSweep } from '../operations/start-sweep.ts';
import { notFound, wrong } from '../problem.ts';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { githubId } from '../lists/whole.ts';

/** The input `app`: an App's id. */
export const app = githubId().describe('An App’s id');

/** Rejects with a Problem if the reconciler has never been configured with this App. */
export async function requireApp(db: Kysely<Database>, appId: number): Promise<void> {
  const known = await findScheduledApps(db);
  if (!known.includes(appId))
    throw notFound(
      `The reconciler does not know the App ${appId}. It knows ${known.join(', ') || 'none'}.`,
    );
}

/** The App that is meant: the only one, if none is named. Rejects with a Problem. */
async function meantApp(db: Kysely<Database>, given: number | undefined): Promise<number> {
  if (given !== undefined) {
    await requireApp(db, given);
    return given;
  }
  const known = await findScheduledApps(db);
  const [only] = known;
  if (only === undefined || known.length > 1)
    throw wrong(`Name the App in \`app\`. The reconciler knows ${known.join(', ') || 'none'}.`);
  return only;
}

/** The Apps whose delivery log the reconciler reads, or has read: each has a schedule. */
async function findScheduledApps(db: Kysely<Database>): Promise<number[]> {
  const rows = await db
    .selectFrom('schedules')
    .select('name')
    .where('name', '~', '^redeliver:[0-9]+$')
    .execute();
  return rows.map(({ name }) => Number(name.split(':')[1])).toSorted((a, b) => a - b);
}

const WITH_DRY_RUN = [...DELETING_SWEEPS].join(', ');

export const runSweepEndpoint = endpoint({
  name: 'runSweep',
  method: 'POST',
  path: '/api/v1/sweeps/{sweep}/run',
  summary:
    'Runs a sweep of the reconciler now. The output of the operation is its counts. `redeliver` with `since` has GitHub repeat all deliveries since an instant that our events lack, also those that GitHub calls delivered.',
  access: 'operate',
  status: 202,
  input: z.object({
    sweep: z.enum([REDELIVER, ...SCHEDULED_SWEEPS]),
    app: app.optional().describe('For `redeliver`, if there are several: an App’s id'),
    since: instantOfDay((day) => day)
      .optional()
      .describe('For `redeliver`: 2026-01-31, an ISO 8601 instant, or -7d, -24h'),
    dryRun: z
      .boolean()
      .default(false)
      .describe(`Only count what it would delete, also while it is paused: ${WITH_DRY_RUN}`),
    note,
  }),
  output: operation,
  async answer(caller, { sweep, app: given, since, dryRun: onlyCounts, note: why }) {
    if (sweep !== REDELIVER && given !== undefined) throw wrong(`${sweep} is not about one App.`);
    if (sweep !== REDELIVER && since !== undefined) throw wrong('Only `redeliver` has `since`.');
    if (since !== undefined && since.getTime() > Date.now())
      throw wrong('`since` is in the future.');
    const request = {
      endpoint: 'runSweep',
      subject: {
        sweep,
        ...(given !== undefined && { app: given }),
        ...(since !== undefined && { since: since.toISOString() }),
      },
      note: why,
    };
    if (onlyCounts) {
      if (!DELETING_SWEEPS.has(sweep))
        throw wrong(
          `${sweep} deletes nothing at GitHub or in the cluster: only ${WITH_DRY_RUN} have a dry run.`,
        );
      const subject = { sweep, dryRun: 'true' };
      // A subject of its own: a kind and subject have one queued task, and a dry run must not take the
      // place of a real one.
      const task = {
        kind: sweep,
        subject: { type: 'dry-run', id: sweep },
        payload: { dryRun: true },
        maxAttempts: SWEEP_ATTEMPTS,
      };
      return startOperation(caller, { ...request, subject }, () => task);
    }
    return startSweep(caller, request, async (trx) => {
      const subject =
        sweep === REDELIVER
          ? { type: 'app', id: String(await meantApp(trx, given)) }
          : { type: 'schedule', id: sweep };
      return since === undefined
        ? { kind: sweep, subject, maxAttempts: SWEEP_ATTEMPTS }
        : { kind: sweep, subject, payload: { since: since.toISOString() } };
    });
  },
});
