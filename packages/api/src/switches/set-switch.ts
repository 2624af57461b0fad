import { setSwitch } from '@paddock/db/switches';
import { z } from 'zod';
import { act, note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { readSubject, readSwitch, requireKnown, switchState, switchSubject } from './switch.ts';

export const setSwitchEndpoint = endpoint({
  name: 'setSwitch',
  method: 'PUT',
  path: '/api/v1/switches/{subject}',
  summary:
    'Holds the making of workers or a sweep back at once. Workers that are there go on; a pass that runs ends within seconds, and a dry run still runs.',
  access: 'operate',
  status: 200,
  input: z.object({ subject: switchSubject, note }),
  output: switchState,
  async answer(caller, { subject: text, note: why }) {
    const subject = await readSubject(caller, text);
    await requireKnown(caller, subject);
    return act(caller, { endpoint: 'setSwitch', subject: { subject }, note: why }, async (trx) => {
      await setSwitch(trx, subject, caller.person, why);
      return readSwitch(trx, subject);
    });
  },
});
