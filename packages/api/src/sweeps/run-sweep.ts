import { REDELIVER, SCHEDULED_SWEEPS, SWEEP_ATTEMPTS } from '@paddock/domain/tasks/sweep-names';
import { z } from 'zod';
import { note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { operation } from '../operations/operation.ts';
import { dryRun, startSweep } from '../operations/start-sweep.ts';
import { wrong } from '../problem.ts';
import { app, meantApp } from './app.ts';

export const runSweepEndpoint = endpoint({
  name: 'runSweep',
  method: 'POST',
  path: '/api/v1/sweeps/{sweep}/run',
  summary: 'Runs a sweep of the reconciler now. The output of the operation is its counts.',
  access: 'operate',
  status: 202,
  input: z.object({
    sweep: z.enum([REDELIVER, ...SCHEDULED_SWEEPS]),
    app: app.optional().describe('For `redeliver`, if there are several: an App’s id'),
    dryRun,
    note,
  }),
  output: operation,
  async answer(caller, { sweep, app: given, dryRun: onlyCounts, note: why }) {
    if (sweep !== REDELIVER && given !== undefined) throw wrong(`${sweep} is not about one App.`);
    const dry = onlyCounts ? { dryRun: 'true' } : {};
    const request = { endpoint: 'runSweep', subject: { sweep, ...dry }, note: why };
    return startSweep(caller, request, onlyCounts, async (trx) => {
      const subject =
        sweep === REDELIVER
          ? { type: 'app', id: String(await meantApp(trx, given)) }
          : { type: 'schedule', id: sweep };
      return { kind: sweep, subject, maxAttempts: SWEEP_ATTEMPTS };
    });
  },
});
