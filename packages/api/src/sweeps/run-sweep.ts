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
import { startOperation } from '../operations/start-operation.ts';
import { startSweep } from '../operations/start-sweep.ts';
import { wrong } from '../problem.ts';
import { app, meantApp } from './app.ts';

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
