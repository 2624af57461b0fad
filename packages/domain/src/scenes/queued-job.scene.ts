import type { JobStatement } from '../deliveries/workflow-job-event.ts';

/** That the job 1 of acme/api waits for a runner with the label `linux`; `given` differs. */
export const queuedJob = (given: Partial<JobStatement> = {}): JobStatement => ({
  jobId: 1,
  status: 'pending',
  runId: 2,
  runAttempt: 1,
  jobName: 'build',
  workflowName: null,
  htmlUrl: null,
  labels: ['linux'],
  conclusion: null,
  runnerName: null,
  runnerId: null,
  queuedAt: '2026-01-31T10:00:00Z',
  startedAt: null,
  completedAt: null,
  entity: { id: 3, login: 'acme', type: 'Organization' },
  repoId: 4,
  repoFullName: 'acme/api',
  isPublic: false,
  installationId: null,
  ...given,
});
