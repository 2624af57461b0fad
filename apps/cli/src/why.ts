import { whyJobEndpoint, whyRunEndpoint } from '@paddock/api/why/explain-job';
import { type JobReference, readJobReference } from '@paddock/domain/why/job-reference';
import { ask } from './ask-command.ts';
import { more } from './columns.ts';
import { type Command, type Given, WrongUsage } from './command.ts';
import { describeWhy } from './describe-why.ts';

const whyJob = ask('why', whyJobEndpoint, {
  word: ['job', 'JOB'],
  fields: readJob,
  print: describeWhy,
});
const whyRun = ask('why', whyRunEndpoint, {
  word: ['address', 'JOB'],
  summary: `Says why a job waits, who can act, and what comes before it.
JOB is its id, or the address of a job or a run at GitHub. Of a run, the jobs that wait or run.`,
  without: ['run', 'owner'],
  fields: readJob,
  print: ({ items, next }) =>
    items.length === 0
      ? 'No job of this run waits or runs. Ask for a job by its own address if no pool serves it.\n'
      : items.map(describeWhy).join('\n') + more(next),
});

export const why: Command = {
  ...whyRun,
  run: (given) => ('run' in readJob(given) ? whyRun : whyJob).run(given),
};

/** A job, or a run with its owner. */
function readJob({ words: [word = ''] }: Given): JobReference {
  const reference = readJobReference(word);
  if (reference === undefined)
    throw new WrongUsage(
      'JOB must be the id of a job, or the address of a job or a run at GitHub.',
    );
  return reference;
}
