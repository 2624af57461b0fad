import { z } from 'zod';
import { entity, pool, repository } from '../lists/named.ts';

/** The inputs that say whose jobs are meant. */
export const jobPlace = {
  entity,
  repository,
  pool,
  workflow: z.string().min(1).max(500).optional().describe('The name of its workflow'),
};
