import { findJobsOfRun } from '@paddock/db/people/list-jobs';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { after, limit, pageOf, rowsToRead, toPage } from '../lists/page.ts';
import { explainJob } from './explain-job.ts';
import { whyAnswer } from './why-answer.ts';
import { githubId } from '../lists/whole.ts';

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
    const { items, next } = toPage(
      ids,
      input.limit,
      (id) => [id],
      (id) => id,
    );
    const answers = [];
    for (const id of items) answers.push(await explainJob(db, id));
    return { items: answers.filter((answer) => answer !== undefined), next };
  },
});
