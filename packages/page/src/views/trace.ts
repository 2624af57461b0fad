import type { Item } from '../answers.ts';
import type { Thing } from '../paths.ts';

interface Subject extends Thing {
  readonly name: string;
}

/** What a row of a trace is about: the row itself first, then what it names. */
export function readItem(item: Item<'trace'>): {
  readonly id: string | number;
  readonly repository: string | null;
  readonly subjects: readonly Subject[];
} {
  switch (item.kind) {
    case 'event': {
      const { id, job, repository } = item.event;
      const event = { kind: 'event', id, name: 'event' } as const;
      return { id, repository: repository?.fullName ?? null, subjects: [event, ...ofJob(job)] };
    }
    case 'job': {
      const { id, name, repository } = item.job;
      return { id, repository: repository.fullName, subjects: [{ kind: 'job', id, name }] };
    }
    case 'worker': {
      const { name, job, repository } = item.worker;
      const worker = { kind: 'worker', id: name, name } as const;
      return { id: name, repository, subjects: [worker, ...ofJob(job)] };
    }
    case 'operation':
      return { id: item.operation.id, repository: null, subjects: ofOperation(item.operation.id) };
    case 'action':
      return { id: item.action.id, repository: null, subjects: ofOperation(item.action.operation) };
    default:
      return item satisfies never;
  }
}

const ofJob = (job: number | null): Subject[] =>
  job === null ? [] : [{ kind: 'job', id: job, name: `job ${job}` }];

const ofOperation = (id: string | null): Subject[] =>
  id === null ? [] : [{ kind: 'operation', id, name: 'operation' }];
