import type { listDiagnosesEndpoint } from '@paddock/api/diagnoses/list-diagnoses';
import { type WhyAnswer, whyJobEndpoint, whyRunEndpoint } from '@paddock/api/why/explain-job';
import { duration } from '@paddock/domain/text/duration';
import type { z } from 'zod';
import { type JobReference, readJobReference } from '@paddock/domain/why/job-reference';
import { columns, more, printable } from './columns.ts';
import { ask } from './ask-command.ts';
import { type Command, type Given, WrongUsage } from './command.ts';

/** Who can act, for people. */
const ACTORS = {
  wait: 'time will do',
  author: 'the workflow’s author',
  platform: 'the platform team',
} as const;

/** The sentence first, then what it rests on. */
function describeWhy(answer: WhyAnswer): string {
  const { job, sentence, since, actor, advice, place, lastStarts } = answer;
  const { workers, workersInAll, caps, earlier } = answer;
  const pool = job.pool === null ? '' : `, in the pool ${job.pool}`;
  const older =
    place === null || place.olderOfEntity + place.olderOfPool === 0
      ? ''
      : `; older ones elsewhere: ${place.olderOfEntity} of its entity, ${place.olderOfPool} of others in its pool`;
  const lines = [
    ['job', `${job.id} ${job.name} of ${job.repository}${pool}`],
    ['since', since ?? '-'],
    ...(actor === null
      ? []
      : [['who can act', ACTORS[actor]] as const, ['to do', advice] as const]),
    ...(place === null ? [] : [['place', `${place.position} of ${place.of}${older}`] as const]),
    ...(lastStarts === null
      ? []
      : [
          [
            'last starts',
            `the last ${lastStarts.jobs} of its queue waited ${duration(lastStarts.medianMs)} (median)`,
          ] as const,
        ]),
    ...earlier.map(
      ({ reason, since: from, until }) => ['before', `${reason} from ${from} to ${until}`] as const,
    ),
    ...caps.map(({ name, used, limit }) => [name, `${used} of ${limit} in use`] as const),
  ] as const;
  const width = Math.max(...lines.map(([label]) => label.length));
  const facts = lines.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`);
  return `${[sentence, ...facts].map(printable).join('\n')}\n${describeWorkers(workers, workersInAll)}`;
}

function describeWorkers(workers: WhyAnswer['workers'], inAll: number): string {
  if (workers.length === 0) return '';
  const rows = workers.map(({ name, state, ageMs, detail }) => [
    name,
    state,
    `${Math.round(ageMs / 1_000)} s`,
    detail,
  ]);
  const others = inAll > workers.length ? `and ${inAll - workers.length} more\n` : '';
  return `${columns(['WORKER', 'STATE', 'AGE', 'DETAIL'], rows, '')}${others}`;
}

/** What is wrong, and who can mend it. */
export const describeDiagnoses = ({
  items,
}: z.input<typeof listDiagnosesEndpoint.output>): string =>
  items.length === 0
    ? 'The rows know of nothing that is wrong.\n'
    : items
        .map(({ name, sentence, since, actor, advice }) =>
          [
            sentence,
            `  ${name}${since === null ? '' : ` since ${since}`}; ${ACTORS[actor]}: ${advice}`,
          ]
            .map((line) => `${printable(line)}\n`)
            .join(''),
        )
        .join('\n');

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
