export const lookUpJobsTask = {
  kind: 'look-up-jobs',
  subject: { type: 'schedule', id: 'look-up-jobs' },
  maxAttempts: 3,
} as const;
