import { findChange } from '@paddock/db/people/find-change';
import { findJobDeliveries } from '@paddock/db/people/list-trace-events';
import { findWaitFacts } from '@paddock/db/people/find-wait-facts';
import { inSnapshot } from '@paddock/db/people/in-snapshot';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import type { Database } from '@paddock/db/schema/tables';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { explainUnserved, type UnservedFacts } from '@paddock/domain/why/explain-unserved';
import { explainWait } from '@paddock/domain/why/explain-wait';
import type { WaitFacts } from '@paddock/domain/why/wait-facts';
import type { Kysely, Transaction } from 'kysely';
import { toWhyAnswer, type WhyAnswer } from './why-answer.ts';

/** Undefined: neither a row nor a stored delivery tells of the job. */
export const explainJob = (db: Kysely<Database>, jobId: number): Promise<WhyAnswer | undefined> =>
  inSnapshot(db, async (trx) => {
    const facts = await findWaitFacts(trx, jobId);
    return facts === undefined ? explainDelivery(trx, jobId) : explainRow(trx, facts);
  });

async function explainRow(trx: Transaction<Database>, facts: WaitFacts): Promise<WhyAnswer> {
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
): Promise<WhyAnswer | undefined> {
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
