import { whyJobEndpoint } from '@paddock/api/why/why-job';
import { whyRunEndpoint } from '@paddock/api/why/why-run';
import { type JobReference, readJobReference } from '@paddock/domain/why/job-reference';
import { askCommand } from './ask-command.ts';
import { type Command, type Given, PAGE, WrongUsage } from './command.ts';
import { describeWhy } from './describe-why.ts';
import { more } from './list-options.ts';
import { oneWord } from './one-word.ts';

const whyJob = askCommand({
  name: 'why',
  takes: 'JOB',
  summary: `Says why a job waits, who can act, and what comes before it.
JOB is its id, or the address of a job or a run at GitHub. Of a run, the jobs that wait or run.`,
  options: PAGE,
  endpoint: whyJobEndpoint,
  input: referenceOf,
  print: describeWhy,
});

const whyRun = askCommand({
  ...whyJob,
  endpoint: whyRunEndpoint,
  input: (given) => ({ ...given.options, ...referenceOf(given) }),
  print: ({ items, next }) =>
    items.length === 0
      ? 'No job of this run waits or runs. Ask for a job by its own address if no pool serves it.\n'
      : items.map(describeWhy).join('\n') + more(next),
});

export const why: Command = {
  ...whyJob,
  run: (given) => ('run' in referenceOf(given) ? whyRun : whyJob).run(given),
};

function referenceOf(given: Given): JobReference {
  const reference = readJobReference(oneWord(given, 'job'));
  if (reference === undefined)
    throw new WrongUsage(
      'JOB must be the id of a job, or the address of a job or a run at GitHub.',
    );
  return reference;
}
