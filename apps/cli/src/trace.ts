import { traceEndpoint } from '@paddock/api/trace/trace';
import { traceEventEndpoint } from '@paddock/api/events/find-event';
import type { traceAnswer } from '@paddock/api/trace/trace-page';
import type { z } from 'zod';
import { askCommand } from './ask-command.ts';
import { asYaml } from './as-yaml.ts';
import { columns, printable } from './columns.ts';
import { type Command, PAGE } from './command.ts';
import { DATES, more } from './list-options.ts';
import { oneWord } from './one-word.ts';

type Trace = z.input<typeof traceAnswer>;
type Item = Trace['items'][number];

const options = {
  kind: { type: 'string', value: 'event|job|worker|operation|action', doc: 'of this kind only' },
  ...DATES,
  ...PAGE,
} as const;

/** Of what it says, by its kind: what to look up, and where. */
function rowOf(item: Item): [id: string | number, job: number | null, repository: string | null] {
  switch (item.kind) {
    case 'event': {
      const { id, job, repository } = item.event;
      return [id, job, repository === null ? null : (repository.fullName ?? String(repository.id))];
    }
    case 'job':
      return [item.job.id, item.job.id, item.job.repository.fullName];
    case 'worker':
      return [item.worker.name, item.worker.job, item.worker.repository];
    case 'operation':
      return [item.operation.id, null, null];
    case 'action':
      return [item.action.id, null, null];
    default:
      return item satisfies never;
  }
}

function print({ entity, items, next }: Trace): string {
  const former = entity?.formerly.length ? `, formerly ${entity.formerly.join(', ')}` : '';
  const head =
    entity === null ? '' : `${printable(`${entity.login ?? '?'} (${entity.id})${former}`)}\n\n`;
  const rows = items.map((item) => {
    const [id, job, repository] = rowOf(item);
    return [item.at, item.kind, id, job, repository, item.what];
  });
  return (
    head +
    columns(['AT', 'KIND', 'ID', 'JOB', 'REPOSITORY', 'WHAT'], rows, 'Nothing of this is stored.') +
    more(next)
  );
}

export const traceCommands: readonly Command[] = [
  askCommand({
    name: 'trace installation',
    takes: 'ID',
    summary: 'Lists what happened to the entity of an installation, the newest first.',
    options,
    endpoint: traceEndpoint,
    input: (given) => ({ ...given.options, of: 'installation', id: oneWord(given, 'id') }),
    print,
  }),
  askCommand({
    name: 'trace job',
    takes: 'ID',
    summary: 'Lists what happened to the entity of a job, the newest first.',
    options: {
      only: { type: 'string', value: 'job', doc: 'only what is about the job and its worker' },
      ...options,
    },
    endpoint: traceEndpoint,
    input: (given) => ({ ...given.options, of: 'job', id: oneWord(given, 'id') }),
    print,
  }),
  askCommand({
    name: 'trace payload',
    takes: 'EVENT',
    summary: 'Shows an event with what is stored of its payload. EVENT is its id in a trace.',
    endpoint: traceEventEndpoint,
    input: (given) => ({ event: oneWord(given, 'id') }),
    print: asYaml,
  }),
  askCommand({
    name: 'trace',
    takes: 'LOGIN|ID',
    summary: `Lists what happened to an entity, the newest first: deliveries, jobs, workers, operations and
actions. A former login will do.`,
    options,
    endpoint: traceEndpoint,
    input: (given) => ({ ...given.options, of: 'entity', id: oneWord(given, 'login or id') }),
    print,
  }),
];
