import type { Database } from '@paddock/db/schema/tables';
import { isUnended } from '@paddock/db/states/job-states';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { after, limit, pageOf, rowsToRead, toPageBy } from '../lists/page.ts';
import { githubId } from '../lists/whole.ts';
import { explainJob } from './explain-job.ts';
import { whyAnswer } from './why-answer.ts';

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
export async function findJobsOfRun(
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
