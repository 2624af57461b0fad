import { createRequire } from 'node:module';
import type { JobStatement } from '../deliveries/workflow-job-event.ts';

const require = createRequire(import.meta.url);
export const definitions = require('@octokit/webhooks-examples') as readonly {
  readonly name: string;
  readonly examples: readonly Record<string, unknown>[];
}[];
const examplesOf = (event: string) =>
  definitions.find(({ name }) => name === event)?.examples ?? [];
export const example = (event: string, index: number): Record<string, unknown> =>
  structuredClone(examplesOf(event)[index] ?? {});

/** A workflow_job payload with other fields in the job. */
export const withJob = (index: number, changes: object) => {
  const payload = example('workflow_job', index);
  return { ...payload, workflow_job: { ...(payload['workflow_job'] as object), ...changes } };
};

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
