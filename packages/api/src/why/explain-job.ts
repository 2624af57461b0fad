import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import type { Database } from '@paddock/db/schema/tables';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { explainUnserved, type UnservedFacts } from '@paddock/domain/why/explain-unserved';
import { explainWait } from '@paddock/domain/why/explain-wait';
import type { WaitFacts } from '@paddock/domain/why/wait-facts';
import { type Kysely, sql, type Transaction } from 'kysely';
import { findChange } from './find-change.ts';
import { findWaitFacts } from './find-wait-facts.ts';
import { type Explained, toWhyAnswer } from './why-answer.ts';

/**
 * All that is read is of one instant, and nothing can be written. Undefined: neither a row nor a
 * stored delivery tells of the job.
 */
export const explainJob = (db: Kysely<Database>, jobId: number): Promise<Explained | undefined> =>
  db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      const facts = await findWaitFacts(trx, jobId);
      return facts === undefined ? explainDelivery(trx, jobId) : explainRow(trx, facts);
    });

async function explainRow(trx: Transaction<Database>, facts: WaitFacts): Promise<Explained> {
  const answer = explainWait(facts);
  const change = await findChange(trx, facts, answer.reason);
  const { now: readAt, job, key, switches, failing, outages, told, budget, group, lostApp } = facts;
  const { unexplained, withoutNode } = facts;
  const held = { switches, failing, outages, told, budget, group, lostApp };
  return toWhyAnswer(
    {
      id: job.jobId,
      name: job.name,
      repository: job.repoFullName,
      pool: job.pool,
      url: job.url,
      queuedAt: job.queuedAt?.toISOString() ?? null,
    },
    { ...answer, change },
    { readAt, job, key, ...held, unexplained, withoutNode },
  );
}

/** A job that no pool serves has no row, only its deliveries. */
async function explainDelivery(
  db: Kysely<Database>,
  jobId: number,
): Promise<Explained | undefined> {
  const stated = newest(await findJobDeliveries(db, jobId));
  if (stated === undefined) return undefined;
  const { job, outcome, receivedAt } = stated;
  const { jobId: id, jobName: name, repoFullName: repository, htmlUrl: url, queuedAt } = job;
  const pools = await currentPoolsDocument(db);
  return toWhyAnswer(
    { id, name, repository, pool: null, url, queuedAt },
    { ...explainUnserved(stated, pools?.document), change: null },
    { outcome, receivedAt, job },
  );
}

const RANK = { pending: 0, running: 1, completed: 2 } as const;

/** The latest statement about the job: deliveries may come in any order. */
function newest(
  deliveries: Awaited<ReturnType<typeof findJobDeliveries>>,
): UnservedFacts | undefined {
  const stated = deliveries.flatMap(({ payload, ...delivery }) => {
    const parsed = parseDelivery('workflow_job', payload);
    return 'job' in parsed ? [{ ...delivery, job: parsed.job }] : [];
  });
  return stated.toSorted((a, b) => RANK[b.job.status] - RANK[a.job.status])[0];
}

/** A job has three, and more only if they are redelivered: a bound, not a page. */
const MOST_OF_JOB = 50;

/** The deliveries about a job, the newest first. A repeated body is empty and says nothing. */
export async function findJobDeliveries(
  db: Kysely<Database>,
  jobId: number,
): Promise<{ outcome: string; receivedAt: Date; payload: unknown }[]> {
  const { rows } = await sql<{ outcome: string; receivedAt: Date; payload: unknown }>`
    select outcome, received_at as "receivedAt", payload from installation_events
    where job_id = ${jobId} and source = 'webhook' and outcome <> 'repeated_body'
    order by id desc limit ${MOST_OF_JOB}`.execute(db);
  return rows;
}
