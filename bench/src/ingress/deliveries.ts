import { createHmac, randomUUID } from 'node:crypto';
import { examplePayload } from '@paddock/testing/signed-delivery';
import { APP_ID } from '../programs.ts';

/** The services' configuration: facts of GitHub and of our pools. */
export const WEBHOOK_SECRET = 'a webhook secret for measuring';
export const POOL = {
  name: 'linux-x64',
  labels: ['self-hosted', 'linux', 'x64'],
  image: 'runner:1',
};

/** The entity that owns the jobs. */
export const ENTITY = { id: 90_000_001, login: 'acme', type: 'Organization' } as const;

/** The part of a `workflow_job` payload that the bench changes or reads. */
export interface JobPayload {
  readonly action: string;
  readonly workflow_job: {
    readonly id: number;
    readonly run_id: number;
    readonly run_attempt: number;
    readonly name: string;
    readonly workflow_name: string | null;
    readonly html_url: string;
    readonly labels: readonly string[];
    readonly status: string;
    readonly conclusion: string | null;
    readonly runner_id: number | null;
    readonly runner_name: string | null;
    readonly created_at: string;
    readonly started_at: string | null;
    readonly completed_at: string | null;
  };
  readonly repository: { readonly id: number; readonly full_name: string };
  readonly installation: { readonly id: number };
}

/**
 * A job's `in_progress` follows its `queued` after this many other jobs, and its `completed` after
 * as many again.
 */
const JOBS_BETWEEN = 100;

/**
 * About `count` deliveries of jobs from `firstJobId` on: `queued`, `in_progress` and `completed` of
 * each. Each has a different body, of about 7 KB.
 */
export function makeDeliveries(firstJobId: number, count: number) {
  const jobs = jobsOf(count);
  const steps = Array.from({ length: jobs + 2 * JOBS_BETWEEN }, (_, step) => step);
  return steps.flatMap((step) =>
    ACTIONS.flatMap((action, nth) => {
      const job = step - nth * JOBS_BETWEEN;
      if (job < 0 || job >= jobs) return [];
      const jobId = firstJobId + job;
      return [{ guid: randomUUID(), body: bodyOf(action, jobId) }];
    }),
  );
}

/** How many jobs the deliveries are about. */
export const jobsOf = (count: number): number => Math.ceil(count / ACTIONS.length);

/** How many deliveries these jobs have. */
export const deliveriesOf = (count: number): number => jobsOf(count) * ACTIONS.length;

/** The worker that runs a job. */
export const workerOf = (jobId: number | string): string => `pdk-bench-${jobId}`;

const ACTIONS = ['queued', 'in_progress', 'completed'] as const;
type Action = (typeof ACTIONS)[number];

/** The delivery as one HTTP request, as it goes over the wire. */
export function toRequest(
  { guid, body }: ReturnType<typeof makeDeliveries>[number],
  host: string,
): Buffer {
  const head = [
    'POST /webhooks/github HTTP/1.1',
    `Host: ${host}`,
    'Accept: */*',
    'Content-Type: application/json',
    'User-Agent: GitHub-Hookshot/0000000',
    `X-GitHub-Delivery: ${guid}`,
    'X-GitHub-Event: workflow_job',
    'X-GitHub-Hook-ID: 1',
    `X-GitHub-Hook-Installation-Target-ID: ${APP_ID}`,
    'X-GitHub-Hook-Installation-Target-Type: integration',
    `X-Hub-Signature-256: sha256=${createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex')}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function bodyOf(action: Action, jobId: number): string {
  const now = new Date().toISOString();
  const hasBegun = action !== 'queued';
  return JSON.stringify(
    examplePayload('workflow_job', 'queued', {
      action,
      workflow_job: {
        id: jobId,
        run_id: jobId,
        name: `build (${jobId % 256})`,
        html_url: `https://github.com/Codertocat/Hello-World/actions/runs/${jobId}/job/${jobId}`,
        labels: POOL.labels,
        status: action,
        conclusion: action === 'completed' ? 'success' : null,
        runner_id: hasBegun ? jobId : null,
        runner_name: hasBegun ? workerOf(jobId) : null,
        created_at: now,
        started_at: now,
        completed_at: action === 'completed' ? now : null,
      },
      repository: { private: true, owner: ENTITY },
      installation: { id: 31 },
    }),
  );
}
