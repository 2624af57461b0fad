import { resumeMaking } from '@paddock/db/matching/stopped-making';
import { z } from 'zod';
import { act, note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { makingSubject, makingSubjectText, readMakingSubject } from './making-subject.ts';
import { readStopState, stopState } from './stop.ts';

export const resumeMakingEndpoint = endpoint({
  name: 'resumeMaking',
  method: 'DELETE',
  path: '/api/v1/stops/{subject}',
  summary: 'Ends a stop of the making of workers; what another stop forbids stays forbidden.',
  access: 'operate',
  status: 200,
  input: z.object({ subject: makingSubject, note }),
  output: stopState,
  async answer(caller, { subject: text, note: why }) {
    const making = await readMakingSubject(caller, text);
    const subject = makingSubjectText(making);
    const request = { endpoint: 'resumeMaking', subject: { subject }, note: why };
    return act(caller, request, async (trx) => {
      await resumeMaking(trx, making);
      return readStopState(trx, { what: 'making', subject });
    });
  },
});
