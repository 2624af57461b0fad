import type { DeliveredStatement } from '@paddock/domain/deliveries/workflow-job-event';
import { poolsDocument } from '@paddock/domain/pools/pools-document';

const ORG = { id: 11, login: 'acme', type: 'Organization' } as const;
const SMALL = {
  name: 'small',
  labels: ['self-hosted', 'linux'],
  image: 'runner:1',
  namespace: 'runners',
};
export const pools = {
  version: 4,
  document: poolsDocument.parse({ pools: [SMALL], entities: { acme: {}, 'id:12': {} } }),
};

const TEN_O_CLOCK = Date.now() - 2 * 3_600_000;
/** An instant by a clock that showed 10:00 two hours ago, when the job was queued. */
export const at = (clock: string) =>
  new Date(TEN_O_CLOCK + Date.parse(`1970-01-01T${clock}Z`) - 10 * 3_600_000);

export const queued: DeliveredStatement = {
  jobId: 900,
  status: 'pending',
  runId: 80,
  runAttempt: 1,
  jobName: 'build',
  workflowName: 'CI',
  htmlUrl: 'https://github.com/acme/api/1',
  labels: ['linux', 'self-hosted'],
  conclusion: null,
  runnerName: null,
  runnerId: null,
  queuedAt: at('10:00:00').toISOString(),
  startedAt: null,
  completedAt: null,
  entity: ORG,
  repoId: 21,
  repoFullName: 'acme/api',
  isPublic: false,
  installationId: 31,
  appId: 41,
  deliveryGuid: 'queued',
};
export const running: DeliveredStatement = {
  ...queued,
  status: 'running',
  runnerName: 'pdk-aaaaaa-small-1',
  runnerId: 5,
  startedAt: at('10:00:30').toISOString(),
  deliveryGuid: 'running',
};
export const completed: DeliveredStatement = {
  ...running,
  status: 'completed',
  conclusion: 'success',
  completedAt: at('10:05:00').toISOString(),
  deliveryGuid: 'completed',
};
/** A job that none of our pools serves. */
export const foreign = { labels: ['ubuntu-latest'] } as const;

/** A worker that runs; its name is missing. */
export const RUNNING_WORKER = {
  status: 'running',
  entity_id: 11,
  entity_name: 'acme',
  entity_type: 'Organization',
  app_id: 41,
  installation_id: 31,
  scope_repo_id: 0,
  job_labels: '["linux"]',
  k8s_pool: 'large',
  k8s_image: 'runner:9',
  pools_version: 2,
  namespace: 'runners',
  runner_id: 5,
} as const;

/** GitHub's facts about a job, without those about the writing. */
export const factsOf = (row: object | undefined) => ({
  ...row,
  created_at: 0,
  updated_at: 0,
  revision: 0,
  delivery_guid: 0,
});
