/** The task that looks up all doubtful jobs, as the queue takes it. */
export const lookUpJobsTask = {
  kind: 'look-up-jobs',
  subject: { type: 'schedule', id: 'look-up-jobs' },
  maxAttempts: 3,
} as const;
