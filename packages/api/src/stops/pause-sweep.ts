import { pauseSweep } from '@paddock/db/schedules/paused-sweeps';
import { z } from 'zod';
import { act, note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { readStopState, stopState } from './stop.ts';
import { pausedName, sweepOrAll } from './sweep-name.ts';

export const pauseSweepEndpoint = endpoint({
  name: 'pauseSweep',
  method: 'PUT',
  path: '/api/v1/paused-sweeps/{sweep}',
  summary: 'Pauses a sweep, or all. A pass that runs ends within seconds; a dry run still runs.',
  access: 'operate',
  status: 200,
  input: z.object({ sweep: sweepOrAll, note }),
  output: stopState,
  answer: (caller, { sweep, note: why }) =>
    act(caller, { endpoint: 'pauseSweep', subject: { sweep }, note: why }, async (trx) => {
      await pauseSweep(trx, pausedName(sweep), caller.person, why);
      return readStopState(trx, { what: 'sweep', subject: sweep });
    }),
});
