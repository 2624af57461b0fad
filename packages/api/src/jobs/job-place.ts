import { z } from 'zod';
import { entity, repository } from '../lists/named.ts';

/** The inputs that say whose jobs are meant. */
export const jobPlace = {
  entity,
  repository,
  pool: z.string().min(1).max(100).optional(),
  workflow: z.string().min(1).max(500).optional().describe('The name of its workflow'),
};
