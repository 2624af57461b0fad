import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../problem.ts';
import { explainJob } from './explain-job.ts';
import { whyAnswer } from './why-answer.ts';
import { githubId } from '../lists/whole.ts';

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
