import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import type { Database } from '@paddock/db/schema/tables';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { explainUnserved, type UnservedFacts } from '@paddock/domain/why/explain-unserved';
import { explainWait } from '@paddock/domain/why/explain-wait';
import type { WaitFacts } from '@paddock/domain/why/wait-facts';
import { type Kysely, sql, type Transaction } from 'kysely';
import { findWaitFacts } from './find-wait-facts.ts';
import { type Explained, toWhyAnswer, whyAnswer } from './why-answer.ts';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../problem.ts';
import { githubId } from '../lists/whole.ts';
import { isUnended } from '@paddock/db/states/states';
import { after, limit, pageOf, rowsToRead, toPageBy } from '../lists/page.ts';
import { MOST_PER_PASS } from '@paddock/domain/matching/matching-settings';
import { findSnapshotRivals, planPass } from '@paddock/domain/matching/plan-pass';
import { settingOf, smallestRaise, withLimit, workersAfter } from '@paddock/domain/why/raise-cap';
import { sumUpDemand } from '@paddock/db/matching/demand';
import { readSnapshot } from '@paddock/db/matching/read-snapshot';
import { findMatchingSettings } from '@paddock/db/instance';
import { findJobTimes } from '@paddock/db/matching/reserve-workers';

/**
 * The sentence that says with which limit the job would have a worker now, if `reason` is a cap. It
 * asks the planner of the matcher, with one cap raised. Null: no other limit of this cap alone
 * would do, or the next pass makes the worker anyway.
 */
export async function findChange(
  trx: Transaction<Database>,
  { job, place, caps }: WaitFacts,
  reason: string | null,
): Promise<string | null> {
  const cap = caps.find(({ kind }) => kind === reason);
  const settings = await findMatchingSettings(trx);
  if (cap === undefined || place === null || settings === undefined) return null;
  const snapshot = await readSnapshot(trx, await sumUpDemand(trx), settings);
  const workersWith = async (most: number): Promise<number> => {
    const changed = { ...snapshot, rules: withLimit(snapshot.rules, cap.kind, job, most) };
    const jobTimes = await findJobTimes(trx, findSnapshotRivals(changed));
    return workersAfter(changed, planPass({ ...changed, jobTimes }, settings), job.demandKey);
  };
  const lacking = place.position - (await workersWith(cap.limit));
  if (lacking <= 0) return null;
  // A place more makes one worker more at most, and a pass never makes more than this.
  const bounds = { least: lacking, most: Math.max(lacking, MOST_PER_PASS) };
  const raise = await smallestRaise(
    bounds,
    async (more) => (await workersWith(cap.limit + more)) >= place.position,
  );
  if (raise === undefined) return null;
  const setting = settingOf(snapshot.rules, cap, job);
  const others = raise - lacking;
  const first =
    others === 0
      ? ''
      : `; ${others} of the added places ${others === 1 ? 'goes' : 'go'} to other queues first`;
  return `With ${cap.limit + raise} as ${setting}, instead of ${cap.limit}, it would have a worker now${first}.`;
}

/**
 * All that is read is of one instant, and nothing can be written. Undefined: neither a row nor a
 * stored delivery tells of the job.
 */
const explainJob = (db: Kysely<Database>, jobId: number): Promise<Explained | undefined> =>
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
const findJobDeliveries = (
  db: Kysely<Database>,
  jobId: number,
): Promise<{ outcome: string; receivedAt: Date; payload: unknown }[]> =>
  db
    .selectFrom('installation_events')
    .select(['outcome', 'received_at as receivedAt', 'payload'])
    .where('job_id', '=', jobId)
    .where('source', '=', 'webhook')
    .where('outcome', '<>', 'repeated_body')
    .orderBy('id', 'desc')
    .limit(MOST_OF_JOB)
    .execute();

export const whyJobEndpoint = endpoint({
  name: 'whyJob',
  method: 'GET',
  path: '/api/v1/jobs/{job}/why',
  summary: 'Says why a job waits, who can act, and what comes before it.',
  access: 'read',
  status: 200,
  input: z.object({ job: githubId().describe('The job’s id at GitHub') }),
  output: whyAnswer,
  async answer({ db }, { job }) {
    const answer = await explainJob(db, job);
    if (answer === undefined)
      throw notFound(
        `Paddock knows no job ${job}: GitHub has announced none, or its rows have expired. Of a run, give the address.`,
      );
    return answer;
  },
});

export const whyRunEndpoint = endpoint({
  name: 'whyRun',
  method: 'GET',
  path: '/api/v1/runs/{run}/why',
  summary:
    'Explains the jobs of a run that wait or run. A job that no pool serves is not among them.',
  access: 'read',
  status: 200,
  input: z.object({
    run: githubId().describe('The run’s id at GitHub'),
    owner: z.string().min(1).max(100).describe('The login of the repository’s owner'),
    limit,
    after: after(z.tuple([z.int()])),
  }),
  output: pageOf(whyAnswer),
  async answer({ db }, input) {
    const ids = await findJobsOfRun(db, { ...input, limit: rowsToRead(input.limit) });
    const { items, next } = toPageBy(ids, input.limit, (id) => [id]);
    const answers = [];
    for (const id of items) answers.push(await explainJob(db, id));
    return { items: answers.filter((answer) => answer !== undefined), next };
  },
});

/**
 * The ids of a run's jobs that wait or run, rising, from the first one after `after`. The run is of
 * an entity with this login: its jobs are found by the entity, as runs have no index.
 */
async function findJobsOfRun(
  db: Kysely<Database>,
  run: { run: number; owner: string; limit: number; after?: readonly [number] | undefined },
): Promise<number[]> {
  const { rows } = await sql<{ jobId: number }>`
    with of_run as materialized (
      -- All of them before any order: in the order of ids the planner would walk through every job.
      select job_id from jobs j
      where ${isUnended('j')} and run_id = ${run.run}
        and entity_id = any (array(select entity_id from installations where lower(login) = lower(${run.owner})))
    )
    select job_id as "jobId" from of_run where job_id > ${run.after?.[0] ?? 0} order by job_id limit ${run.limit}`.execute(
    db,
  );
  return rows.map(({ jobId }) => jobId);
}
