import { deliveries } from './deliveries.ts';
import { making } from './making.ts';
import type { NumberRow } from './number-row.ts';
import { recovery } from './recovery.ts';
import { stopping } from './stopping.ts';
import { tasks } from './tasks.ts';

/** Every number that a promise rests on, by subject. docs/numbers.md is made of it. */
export const NUMBERS: Readonly<Record<string, readonly NumberRow[]>> = {
  'Deliveries and names': deliveries,
  'Making and following workers': making,
  'Giving workers up': stopping,
  'The queue': tasks,
  'Recovery and retention': recovery,
};
