import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../problem.ts';
import { toPage } from '../lists/page.ts';
import { eventRow, listDeliveryEvents, meaningOf } from '../events/event.ts';
import { findUnresolvedByGuid, unresolved } from './list-redeliveries.ts';

/** A delivery has one, and more only if it is redelivered: a bound, not a page. */
const MOST = 50;

export const findDeliveryEndpoint = endpoint({
  name: 'findDelivery',
  method: 'GET',
  path: '/api/v1/deliveries/{delivery}',
  summary: 'Says what became of a delivery, and whether Paddock asks for it again.',
  access: 'read',
  status: 200,
  input: z.object({ delivery: z.guid().toLowerCase().describe('The GUID of the delivery') }),
  output: z.object({
    delivery: z.string(),
    events: z
      .array(eventRow.extend({ meaning: z.string().describe('Of the outcome') }))
      .describe(`The newest ${MOST} rows of it, the newest first: one for each time it came`),
    unresolved: z
      .array(unresolved)
      .describe('The Apps for which it failed, and for which Paddock goes on asking for it'),
  }),
  async answer({ db }, { delivery }) {
    const events = await listDeliveryEvents(db, delivery, { limit: MOST });
    const failed = await findUnresolvedByGuid(db, delivery);
    if (events.length === 0 && failed.length === 0)
      throw notFound(
        'No row names this delivery: it never arrived, or its row was deleted. GitHub can repeat it for three days.',
      );
    return {
      delivery,
      events: toPage(events, MOST).items.map((row) =>
        Object.assign(row, { meaning: meaningOf(row) }),
      ),
      unresolved: toPage(failed, failed.length).items,
    };
  },
});
