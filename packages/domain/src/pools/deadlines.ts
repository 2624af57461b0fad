import { z } from 'zod';

const seconds = z.int().min(10).max(86_400);

/** The deadlines of a pool's workers; if absent, `DEFAULT_DEADLINES`. */
export const deadlines = {
  pendingDeadlineSeconds: seconds.optional().describe('How long a pod may take to start.'),
  registrationDeadlineSeconds: seconds
    .optional()
    .describe(
      'How long a runner may take from the start of its container until GitHub calls it online.',
    ),
  idleDeadlineSeconds: seconds
    .optional()
    .describe('How long a runner may be without a job before it is stopped; warm ones are not.'),
};

export const DEFAULT_DEADLINES = {
  pendingDeadlineSeconds: 900,
  registrationDeadlineSeconds: 300,
  idleDeadlineSeconds: 600,
} as const;
