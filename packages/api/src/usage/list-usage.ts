import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { after, limit, pageOf, rowsToRead, toPage } from '../lists/page.ts';
import { findUsage, toUsageRow, usageInput, usageRow, usageSpan } from './usage.ts';

export const listUsageEndpoint = endpoint({
  name: 'listUsage',
  method: 'GET',
  path: '/api/v1/usage',
  summary:
    'Sums up the jobs, runner minutes and queue times of a span, by repository, workflow, pool or entity, the most minutes first.',
  access: 'read',
  status: 200,
  input: z.object({
    ...usageInput,
    limit,
    after: after(z.tuple([z.int(), z.string().max(300), z.string().max(700)])),
  }),
  output: pageOf(usageRow).extend(usageSpan),
  async answer(caller, input) {
    const page = { limit: rowsToRead(input.limit), after: input.after };
    const { rows, head } = await findUsage(caller, input, page);
    return { ...toPage(rows, input.limit, ({ position }) => position, toUsageRow), ...head };
  },
});
