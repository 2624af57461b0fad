import { type AnswerOf, API } from '@paddock/api/endpoints';
import { duration } from '@paddock/domain/text/duration';
import { type JobReference, readJobReference } from '@paddock/domain/why/job-reference';
import { count } from '@paddock/domain/why/reason-explanations';
import { columns, more, printable } from './columns.ts';
import { ask } from './ask-command.ts';
import { type Command, type Given, WrongUsage } from './command.ts';

const ACTORS = {
  wait: 'time will do',
  author: 'the workflow’s author',
  platform: 'the platform team',
} as const;

function describeWhy(answer: AnswerOf<'whyJob'>): string {
  const { job, sentence, since, actor, advice, place, lastStarts, caps, earlier } = answer;
  const facts: [label: string, text: string | null][] = [
    ['job', `${job.id} ${job.name} of ${job.repository}`],
    ['pool', job.pool],
    ['since', since],
    ['who can act', actor && ACTORS[actor]],
    ['to do', actor && advice],
    ['place', place && `${place.position} of ${place.of}`],
    [
      'older elsewhere',
      place && `${place.olderOfEntity} of its entity, ${place.olderOfPool} of others in its pool`,
    ],
    [
      'last starts',
      lastStarts &&
        `the last ${lastStarts.jobs} of its queue waited ${duration(lastStarts.medianMs)} (median)`,
    ],
    ...earlier.map(({ reason, since: from, until }): [string, string] => [
      'before',
      `${reason} from ${from} to ${until}`,
    ]),
    ...caps.map(({ name, used, limit }): [string, string] => [name, `${used} of ${limit} in use`]),
  ];
  const known = facts.filter(([, text]) => text !== null);
  const width = Math.max(...known.map(([label]) => label.length));
  const lines = known.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`);
  return `${[sentence, ...lines].map(printable).join('\n')}\n${describeWorkers(answer)}`;
}

function describeWorkers({ workers, workersInAll }: AnswerOf<'whyJob'>): string {
  if (workers.length === 0) return '';
  const rows = workers.map((one) => [one.name, one.state, duration(one.ageMs), one.detail]);
  const others = workersInAll - workers.length;
  return `${columns(['WORKER', 'STATE', 'AGE', 'DETAIL'], rows, '')}${others > 0 ? `and ${others} more\n` : ''}`;
}

export const describeDiagnoses = ({ items }: AnswerOf<'listDiagnoses'>): string =>
  items.length === 0
    ? 'The rows know of nothing that is wrong.\n'
    : items
        .map(({ name, subject, sentence, since, until, act, actor, advice, jobs = 0 }) =>
          [
            jobs > 0 ? `${count(jobs, 'waiting job')}: ${sentence}` : sentence,
            `  ${name}${since === null ? '' : ` since ${since}`}; ${ACTORS[actor]}: ${advice}`,
            ...(until ? [`  tried again at ${until}`] : []),
            ...(act ? [`  paddock ${act} ${act === 'resume' ? subject : name}`] : []),
          ]
            .map((line) => `${printable(line)}\n`)
            .join(''),
        )
        .join('\n');

const whyJob = ask('why', API.whyJob, {
  word: ['job', 'JOB'],
  fields: readJob,
  print: describeWhy,
});
const whyRun = ask('why', API.whyRun, {
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

function readJob({ words: [word = ''] }: Given): JobReference {
  const reference = readJobReference(word);
  if (reference === undefined)
    throw new WrongUsage(
      'JOB must be the id of a job, or the address of a job or a run at GitHub.',
    );
  return reference;
}
