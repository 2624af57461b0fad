import { REDELIVER } from '@paddock/domain/tasks/sweep-names';
import { z } from 'zod';
import { note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { instantOfDay } from '../lists/dates.ts';
import { operation } from '../operations/operation.ts';
import { startSweep } from '../operations/start-sweep.ts';
import { wrong } from '../problem.ts';
import { app, requireApp } from './app.ts';

export const redeliverSinceEndpoint = endpoint({
  name: 'redeliverSince',
  method: 'POST',
  path: '/api/v1/apps/{app}/redeliver-since',
  summary:
    'Has GitHub repeat all deliveries since an instant that our events lack, also those that GitHub calls delivered.',
  access: 'operate',
  status: 202,
  input: z.object({
    app,
    since: instantOfDay((day) => day).describe('2026-01-31, an ISO 8601 instant, or -7d, -24h'),
    note,
  }),
  output: operation,
  async answer(caller, { app: appId, since, note: why }) {
    if (since.getTime() > Date.now()) throw wrong('`since` is in the future.');
    const subject = { app: appId, since: since.toISOString() };
    const request = { endpoint: 'redeliverSince', subject, note: why };
    return startSweep(caller, request, async (trx) => {
      await requireApp(trx, appId);
      return {
        kind: REDELIVER,
        subject: { type: 'app', id: String(appId) },
        payload: { since: since.toISOString() },
      };
    });
  },
});
