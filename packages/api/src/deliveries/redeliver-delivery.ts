import { REDELIVER } from '@paddock/domain/tasks/sweep-names';
import { z } from 'zod';
import { note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { operation } from '../operations/operation.ts';
import { startSweep } from '../operations/start-sweep.ts';
import { app, requireApp } from '../sweeps/app.ts';

export const redeliverDeliveryEndpoint = endpoint({
  name: 'redeliverDelivery',
  method: 'POST',
  path: '/api/v1/deliveries/{delivery}/redeliver',
  summary: 'Has GitHub repeat one delivery, which it can for three days.',
  access: 'operate',
  status: 202,
  input: z.object({
    delivery: z.guid().toLowerCase().describe('The GUID of the delivery'),
    app: app.optional().describe('Whose log has it; without it, all Apps are looked through'),
    note,
  }),
  output: operation,
  answer(caller, { delivery, app: appId, note: why }) {
    const request = { endpoint: 'redeliverDelivery', subject: { delivery }, note: why };
    return startSweep(caller, request, async (trx) => {
      if (appId !== undefined) await requireApp(trx, appId);
      return {
        kind: REDELIVER,
        subject: { type: 'delivery', id: delivery },
        payload: { guid: delivery, ...(appId === undefined ? {} : { appId }) },
      };
    });
  },
});
