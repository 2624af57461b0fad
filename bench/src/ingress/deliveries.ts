import { createHmac, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';

/** What the services under measurement know of GitHub and of our pools. */
export const APP_ID = 7;
export const WEBHOOK_SECRET = 'a webhook secret for measuring';
export const POOL = { name: 'linux-x64', labels: ['self-hosted', 'linux', 'x64'], image: 'runner:1' };

/** A `workflow_job` payload as GitHub sends it, as far as it is changed or read here. */
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
    readonly created_at: string;
  };
  readonly repository: {
    readonly id: number;
    readonly full_name: string;
    readonly owner: { readonly id: number; readonly login: string; readonly type: string };
  };
  readonly installation: { readonly id: number };
}

export interface Delivery {
  readonly jobId: number;
  readonly guid: string;
  readonly body: string;
}

/** Deliveries of queued jobs, each of a job of its own, from `firstJobId` on. Bodies have about 7 KB. */
export function makeDeliveries(firstJobId: number, count: number): Delivery[] {
  const example = queuedExample();
  return Array.from({ length: count }, (_, index) => {
    const jobId = firstJobId + index;
    return { jobId, guid: randomUUID(), body: JSON.stringify(payloadOf(example, jobId)) };
  });
}

/** The delivery as one HTTP request, as it goes over the wire. */
export function toRequest({ guid, body }: Delivery, host: string): Buffer {
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

function payloadOf(example: JobPayload, jobId: number): JobPayload {
  const { workflow_job: job, repository } = example;
  const url = `https://github.com/${repository.full_name}/actions/runs/${jobId}/job/${jobId}`;
  return {
    ...example,
    workflow_job: { ...job, id: jobId, run_id: jobId, name: `build (${jobId % 256})`, html_url: url, labels: POOL.labels },
    repository: { ...repository, private: true } as JobPayload['repository'],
    installation: { id: 31 },
  };
}

function queuedExample(): JobPayload {
  const require = createRequire(import.meta.url);
  const events = require('@octokit/webhooks-examples') as readonly { name: string; examples: readonly JobPayload[] }[];
  const examples = events.find(({ name }) => name === 'workflow_job')?.examples ?? [];
  const example = examples.find(({ action }) => action === 'queued');
  if (example === undefined) throw new Error('@octokit/webhooks-examples has no example of workflow_job.queued.');
  return example;
}
