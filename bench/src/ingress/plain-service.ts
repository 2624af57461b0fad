import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Database } from '@paddock/db/schema/tables';
import express from 'express';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { APP_ID } from '../bench.ts';
import { ENTITY, POOL, WEBHOOK_SECRET } from './deliveries.ts';

/**
 * The webhook handler that most people would write: Express, Kysely, and one transaction for each
 * delivery. The transaction has two inserts; one of them updates an existing job and the worker
 * that runs it. It writes the same rows into the same tables, and does only the measured part.
 */
const [, , connectionString, schema] = process.argv;
const pool = new pg.Pool({ connectionString, options: `-c search_path=${schema}`, max: 10 });
const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });

const app = express();

app.post(
  '/webhooks/github',
  express.raw({ type: '*/*', limit: '25mb' }),
  async (request, response) => {
    const raw = request.body as Buffer;
    if (!isSigned(raw, request.get('x-hub-signature-256') ?? '')) {
      response.status(401).send('The signature does not match.');
      return;
    }
    const body = JSON.parse(raw.toString()) as JobPayload;
    await store(
      body,
      raw.toString(),
      request.get('x-github-delivery') ?? '',
      `${request.get('x-github-event')}.${body.action}`,
    );
    response.send('ok');
  },
);

function isSigned(raw: Buffer, signature: string): boolean {
  const expected = Buffer.from(
    `sha256=${createHmac('sha256', WEBHOOK_SECRET).update(raw).digest('hex')}`,
  );
  const given = Buffer.from(signature);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

const STATUS = { queued: 'pending', in_progress: 'running', completed: 'completed' } as const;
/** The states that a status may replace: deliveries come in any order. */
const BEFORE = {
  pending: ['pending'],
  running: ['pending'],
  completed: ['pending', 'running'],
} as const;

/** The part of a `workflow_job` payload that it reads. */
interface JobPayload {
  readonly action: string;
  readonly workflow_job: {
    readonly id: number;
    readonly run_id: number;
    readonly run_attempt: number;
    readonly name: string;
    readonly workflow_name: string | null;
    readonly html_url: string;
    readonly labels: readonly string[];
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

async function store(
  body: JobPayload,
  payload: string,
  guid: string,
  event: string,
): Promise<void> {
  const { workflow_job: job, repository, installation } = body;
  const status = STATUS[body.action as keyof typeof STATUS];
  const stated = {
    status,
    wants_worker: status === 'pending',
    conclusion: job.conclusion,
    runner_name: job.runner_name,
    runner_id: job.runner_id,
    k8s_pod: job.runner_name,
    started_at: status === 'pending' || job.started_at === null ? null : new Date(job.started_at),
    completed_at: job.completed_at === null ? null : new Date(job.completed_at),
    delivery_guid: guid,
  };
  const about = {
    job_id: job.id,
    app_id: APP_ID,
    installation_id: installation.id,
    entity_type: ENTITY.type,
    entity_id: ENTITY.id,
    entity_name: ENTITY.login,
    repo_id: repository.id,
    delivery_guid: guid,
  };
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('installation_events')
      .values({
        ...about,
        source: 'webhook',
        event,
        outcome: 'job_stored',
        payload,
      })
      .execute();
    await trx
      .insertInto('jobs')
      .values({
        ...about,
        ...stated,
        repo_full_name: repository.full_name,
        job_labels: JSON.stringify(job.labels.toSorted()),
        k8s_pool: POOL.name,
        k8s_image: POOL.image,
        scope_repo_id: 0,
        pools_version: 1,
        run_id: job.run_id,
        run_attempt: job.run_attempt,
        job_name: job.name,
        workflow_name: job.workflow_name,
        html_url: job.html_url,
        queued_at: new Date(job.created_at),
      })
      .onConflict((conflict) =>
        conflict.column('job_id').doUpdateSet(stated).where('jobs.status', 'in', BEFORE[status]),
      )
      .execute();
    if (job.runner_name === null) return;
    await trx
      .updateTable('workers')
      .set({ assigned_job_id: job.id, assigned_at: new Date() })
      .where('pod_name', '=', job.runner_name)
      .where('assigned_job_id', 'is', null)
      .execute();
  });
}

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  process.stdout.write(`${JSON.stringify({ message: 'listening', port })}\n`);
});
