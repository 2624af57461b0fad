import { resumeSweep } from '@paddock/db/schedules/paused-sweeps';
import { z } from 'zod';
import { act, note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { readStopState, stopState } from './stop.ts';
import { pausedName, sweepOrAll } from './sweep-name.ts';

export const unpauseSweepEndpoint = endpoint({
  name: 'unpauseSweep',
  method: 'DELETE',
  path: '/api/v1/paused-sweeps/{sweep}',
  summary: 'Ends the pause of a sweep; it stays paused while all are.',
  access: 'operate',
  status: 200,
  input: z.object({ sweep: sweepOrAll, note }),
  output: stopState,
  answer: (caller, { sweep, note: why }) =>
    act(caller, { endpoint: 'unpauseSweep', subject: { sweep }, note: why }, async (trx) => {
      await resumeSweep(trx, pausedName(sweep));
      return readStopState(trx, { what: 'sweep', subject: sweep });
    }),
});
