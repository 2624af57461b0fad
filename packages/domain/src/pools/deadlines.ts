import { z } from 'zod';

const seconds = z.int().min(10).max(86_400);

/** The deadlines of a pool's workers; if absent, `DEFAULT_DEADLINES`. */
export const deadlines = {
  pendingDeadlineSeconds: seconds
    .optional()
    .describe('A pod that has not started by then is given up.'),
  registrationDeadlineSeconds: seconds
    .optional()
    .describe(
      'A runner that GitHub has not called online so long after the start of its container is given up.',
    ),
  idleDeadlineSeconds: seconds
    .optional()
    .describe('A runner without a job for so long is stopped; warm ones are not.'),
};

export const DEFAULT_DEADLINES = {
  pendingDeadlineSeconds: 900,
  registrationDeadlineSeconds: 300,
  idleDeadlineSeconds: 600,
} as const;
