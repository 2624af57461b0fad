import { z } from 'zod';
import { note, type Request } from '../actions/act.ts';
import { dates } from '../lists/dates.ts';

/** Most failed operations that one request deals with, so that its transaction stays short. */
export const MOST_AT_ONCE = 200;

/** The filters of the list of failed operations. */
export const failedFilter = {
  kind: z.string().max(100).optional().describe('Of this kind of task only'),
  ...dates,
};

/** The input of who deals with all that fit. */
export const failedInput = z.object({
  ...failedFilter,
  dryRun: z.boolean().default(false).describe('Only count them'),
  note,
});

/** How many it dealt with. */
export const failedOutput = z.object({
  operations: z.int().describe(`How many, ${MOST_AT_ONCE} at most`),
  paused: z.int().describe('How many stay, because their sweeps are paused'),
  dryRun: z.boolean(),
  more: z.boolean().describe('Others fit too: ask again'),
});

/** What the audit says about it. */
export const failedSubject = ({
  kind,
  from,
  to,
}: Pick<z.output<typeof failedInput>, 'kind' | 'from' | 'to'>): Request['subject'] => ({
  ...(kind !== undefined && { kind }),
  ...(from !== undefined && { from: from.toISOString() }),
  ...(to !== undefined && { to: to.toISOString() }),
});
