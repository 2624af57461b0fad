import { EVERY_SWEEP } from '@paddock/db/schedules/paused-sweeps';
import { SWEEPS } from '@paddock/domain/tasks/sweep-names';
import { z } from 'zod';

/** The input `sweep` of who pauses sweeps. */
export const sweepOrAll = z
  .enum([...SWEEPS, 'all'])
  .describe('The name of a sweep; `all`: every one of them');

/** As the table of pauses names it. */
export const pausedName = (sweep: z.output<typeof sweepOrAll>): string =>
  sweep === 'all' ? EVERY_SWEEP : sweep;
