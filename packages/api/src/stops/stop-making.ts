import { stopMaking } from '@paddock/db/matching/stopped-making';
import { z } from 'zod';
import { act, note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import {
  makingSubject,
  makingSubjectText,
  readMakingSubject,
  requireKnown,
} from './making-subject.ts';
import { readStopState, stopState } from './stop.ts';

export const stopMakingEndpoint = endpoint({
  name: 'stopMaking',
  method: 'PUT',
  path: '/api/v1/stops/{subject}',
  summary:
    'Stops the making of workers at once: everywhere, in a pool, or for an entity. Workers that are there go on.',
  access: 'operate',
  status: 200,
  input: z.object({ subject: makingSubject, note }),
  output: stopState,
  async answer(caller, { subject: text, note: why }) {
    const making = await readMakingSubject(caller, text);
    await requireKnown(caller, making);
    const subject = makingSubjectText(making);
    return act(caller, { endpoint: 'stopMaking', subject: { subject }, note: why }, async (trx) => {
      await stopMaking(trx, making, caller.person, why);
      return readStopState(trx, { what: 'making', subject });
    });
  },
});
