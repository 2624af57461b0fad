import { liftSwitch } from '@paddock/db/switches';
import { z } from 'zod';
import { act, note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { readSubject, readSwitch, switchState, switchSubject } from './switch.ts';

export const liftSwitchEndpoint = endpoint({
  name: 'liftSwitch',
  method: 'DELETE',
  path: '/api/v1/switches/{subject}',
  summary: 'Lets go on what a switch holds back; what another switch holds back stays.',
  access: 'operate',
  status: 200,
  input: z.object({ subject: switchSubject, note }),
  output: switchState,
  async answer(caller, { subject: text, note: why }) {
    const subject = await readSubject(caller, text);
    return act(caller, { endpoint: 'liftSwitch', subject: { subject }, note: why }, async (trx) => {
      await liftSwitch(trx, subject);
      return readSwitch(trx, subject);
    });
  },
});
