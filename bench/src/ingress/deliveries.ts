import { examplePayload, signedDelivery } from '@paddock/testing/signed-delivery';
import { APP_ID } from '../bench.ts';

/** The services' configuration: facts of GitHub and of our pools. */
export const WEBHOOK_SECRET = 'a webhook secret for measuring';
export const POOL = {
  name: 'linux-x64',
  labels: ['self-hosted', 'linux', 'x64'],
  image: 'runner:1',
};

/** The entity that owns the jobs. */
export const ENTITY = { id: 90_000_001, login: 'acme', type: 'Organization' } as const;

/**
 * A job's `in_progress` follows its `queued` after this many other jobs, and its `completed` after
 * as many again.
 */
const JOBS_BETWEEN = 100;

/**
 * About `count` requests with deliveries of jobs from `firstJobId` on: `queued`, `in_progress` and
 * `completed` of each. Each has a different body, of about 7 KB.
 */
export function makeRequests(firstJobId: number, count: number, host: string): Promise<Buffer[]> {
  const jobs = jobsOf(count);
  const steps = Array.from({ length: jobs + 2 * JOBS_BETWEEN }, (_, step) => step);
  const bodies = steps.flatMap((step) =>
    ACTIONS.flatMap((action, nth) => {
      const job = step - nth * JOBS_BETWEEN;
      return job < 0 || job >= jobs ? [] : [bodyOf(action, firstJobId + job)];
    }),
  );
  return Promise.all(bodies.map((body) => toRequest(body, host)));
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
async function toRequest(payload: string, host: string): Promise<Buffer> {
  const { headers, body } = await signedDelivery({
    event: 'workflow_job',
    payload,
    secret: WEBHOOK_SECRET,
    appId: APP_ID,
  });
  const all = { host, ...headers, 'content-length': Buffer.byteLength(body) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(['POST /webhooks/github HTTP/1.1', ...lines, '', body].join('\r\n'));
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
