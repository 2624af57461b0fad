import type { traceAnswer } from '@paddock/api/trace/trace-page';
import type { z } from 'zod';
import { columns, more, printable } from './columns.ts';

type Trace = z.input<typeof traceAnswer>;
type Item = Trace['items'][number];

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

export function describeTrace({ entity, items, next }: Trace): string {
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
