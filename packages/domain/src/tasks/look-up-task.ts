/** The task that asks GitHub about all jobs that are in doubt, in the form in which the queue takes it. */
export const lookUpJobsTask = { kind: 'look-up-jobs', subject: { type: 'schedule', id: 'look-up-jobs' }, maxAttempts: 3 } as const;
