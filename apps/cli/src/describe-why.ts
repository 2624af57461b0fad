import type { listDiagnosesEndpoint } from '@paddock/api/diagnoses/list-diagnoses';
import type { WhyAnswer } from '@paddock/api/why/why-answer';
import { duration } from '@paddock/domain/text/duration';
import type { z } from 'zod';
import { columns, printable } from './columns.ts';

/** Who can act, for people. */
const ACTORS = {
  wait: 'time will do',
  author: 'the workflow’s author',
  platform: 'the platform team',
} as const;

/** The sentence first, then what it rests on. */
export function describeWhy(answer: WhyAnswer): string {
  const { job, sentence, since, actor, advice, change, place, lastStarts } = answer;
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
    ...(change === null ? [] : [['change', change] as const]),
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
  const more = inAll > workers.length ? `and ${inAll - workers.length} more\n` : '';
  return `${columns(['WORKER', 'STATE', 'AGE', 'DETAIL'], rows, '')}${more}`;
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
