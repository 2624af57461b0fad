import { rowsOf } from '@paddock/db/rows';
import { WORKER_STATES } from '@paddock/domain/why/worker-progress';
import { explainWait, type WaitAnswer } from '@paddock/domain/why/explain-wait';
import { z } from 'zod';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import type { Db } from '@paddock/db/schema/tables';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { explainUnserved, type UnservedFacts } from '@paddock/domain/why/explain-unserved';
import type { WaitFacts } from '@paddock/domain/why/wait-facts';
import { isUnended } from '@paddock/db/states/states';
import { instant, instantText } from '../lists/dates.ts';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../problem.ts';
import { githubId, pageInput, pageOf, type Placed, toPage } from '../lists/page.ts';
import { findWaitFacts } from './find-wait-facts.ts';

/** The answer to “why does my job wait?”, the same in the terminal, over HTTP and on the page. */
const whyAnswer = z.object({
  job: z.object({
    id: z.int(),
    name: z.string(),
    repository: z.string(),
    pool: z.string().nullable().describe('null: no pool serves it'),
    url: z.string().nullable().describe('Its page at GitHub'),
    queuedAt: instantText.nullable(),
  }),
  state: z.enum(['waiting', 'in_doubt', 'held', 'not_served', 'running', 'ended']),
  reason: z.string().nullable().describe('The stored word for it; null: workers are on their way'),
  sentence: z.string(),
  since: instant.nullable(),
  actor: z.enum(['wait', 'author', 'platform']).nullable().describe('Who can act'),
  advice: z.string().describe('What the actor can do'),
  place: z
    .object({
      position: z.int(),
      of: z.int(),
      olderOfEntity: z.int().describe('Older jobs of its entity in other queues'),
      olderOfPool: z.int().describe('Older jobs of other entities in its pool'),
    })
    .nullable()
    .describe('Its place among the waiting jobs of its scope and pool, by age'),
  lastStarts: z
    .object({
      jobs: z.int(),
      medianMs: z.int().describe('How long they waited, from GitHub’s queue until their start'),
    })
    .nullable()
    .describe('The last jobs of its queue that started; null: it waits for no worker, or none did'),
  workers: z.array(
    z.object({
      name: z.string(),
      state: z.enum(Object.keys(WORKER_STATES) as (keyof typeof WORKER_STATES)[]),
      detail: z.string(),
      ageMs: z.int(),
    }),
  ),
  workersInAll: z.int().describe('`workers` names the readiest of them'),
  workersStopping: z.int().describe('Those of them that are being stopped'),
  caps: z.array(z.object({ name: z.string(), used: z.int(), limit: z.int() })),
  earlier: z
    .array(z.object({ reason: z.string(), since: instant, until: instant }))
    .describe('What the jobs of its queue waited for before, while it waited; the latest first'),
  evidence: z
    .record(z.string(), z.unknown())
    .describe('The facts that the answer was made from, as they are stored'),
});

type Explained = z.output<typeof whyAnswer>;

/** A key may have thousands of workers, and people want to see how the next ones get on. */
const MOST_WORKERS = 20;

const toWhyAnswer = (
  job: Explained['job'],
  answer: WaitAnswer,
  evidence: Explained['evidence'],
): Explained => ({
  job,
  ...answer,
  workers: answer.workers.slice(0, MOST_WORKERS),
  workersInAll: answer.workers.length,
  workersStopping: answer.workers.filter(({ state }) => state === 'stopping').length,
  caps: [...answer.caps],
  earlier: [...answer.earlier],
  evidence,
});

/** All of one instant. Undefined: neither a row nor a stored delivery tells of the job. */
const explainJob = (db: Db, jobId: number): Promise<Explained | undefined> =>
  db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      const facts = await findWaitFacts(trx, jobId);
      return facts === undefined ? explainDelivery(trx, jobId) : explainRow(facts);
    });

function explainRow(facts: WaitFacts): Explained {
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
    explainWait(facts),
    { readAt, job, key, ...held, unexplained, withoutNode },
  );
}

/** A job that no pool serves has no row, only its deliveries. */
async function explainDelivery(db: Db, jobId: number): Promise<Explained | undefined> {
  const stated = newest(await findJobDeliveries(db, jobId));
  if (stated === undefined) return undefined;
  const { job, outcome, receivedAt } = stated;
  const { jobId: id, jobName: name, repoFullName: repository, htmlUrl: url, queuedAt } = job;
  const pools = await currentPoolsDocument(db);
  return toWhyAnswer(
    { id, name, repository, pool: null, url, queuedAt },
    explainUnserved(stated, pools?.document),
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
  db: Db,
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
  path: '/api/v1/jobs/{job}/why',
  summary: 'Says why a job waits, who can act, and what comes before it.',
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
  path: '/api/v1/runs/{run}/why',
  summary:
    'Explains the jobs of a run that wait or run. A job that no pool serves is not among them.',
  input: z.object({
    run: githubId().describe('The run’s id at GitHub'),
    owner: z.string().min(1).max(100).describe('The login of the repository’s owner'),
    ...pageInput(z.tuple([z.int()])),
  }),
  output: pageOf(whyAnswer),
  async answer({ db }, input) {
    const { items, next } = toPage(await findJobsOfRun(db, input), input.limit);
    const answers = [];
    for (const { jobId } of items) answers.push(await explainJob(db, jobId));
    return { items: answers.filter((answer) => answer !== undefined), next };
  },
});

/**
 * The ids of a run's jobs that wait or run, rising, from the first one after `after`. The run is of
 * an entity with this login: its jobs are found by the entity, as runs have no index.
 */
const findJobsOfRun = (
  db: Db,
  run: { run: number; owner: string; limit: number; after?: readonly [number] | undefined },
): Promise<Placed<{ jobId: number }>[]> =>
  rowsOf<Placed<{ jobId: number }, [number]>>(db)`
    with of_run as materialized (
      -- All of them before any order: in the order of ids the planner would walk through every job.
      select job_id from jobs j
      where ${isUnended('j')} and run_id = ${run.run}
        and entity_id = any (array(select entity_id from installations where lower(login) = lower(${run.owner})))
    )
    select job_id as "jobId", json_build_array(job_id) as position from of_run where job_id > ${run.after?.[0] ?? 0} order by job_id limit ${run.limit}`;
