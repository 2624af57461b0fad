import type { TraceItem } from '../answers.ts';

/** What a thing that happened is about, and where it is on the page. */
export interface Subject {
  readonly name: string;
  readonly to: string;
}

/** The row itself first, then what it names. */
export function subjectsOf(item: TraceItem): Subject[] {
  switch (item.kind) {
    case 'event': {
      const { id, job } = item.event;
      return [{ name: 'event', to: `/trace/payload/${id}` }, ...ofJob(job)];
    }
    case 'job':
      return [{ name: item.job.name, to: `/jobs/${item.job.id}` }];
    case 'worker':
      return [
        { name: item.worker.name, to: `/workers/${encodeURIComponent(item.worker.name)}` },
        ...ofJob(item.worker.job),
      ];
    case 'operation':
      return [{ name: 'operation', to: `/operations/${item.operation.id}` }];
    case 'action':
      return item.action.operation === null
        ? []
        : [{ name: 'operation', to: `/operations/${item.action.operation}` }];
    default:
      return item satisfies never;
  }
}

const ofJob = (job: number | null): Subject[] =>
  job === null ? [] : [{ name: `job ${job}`, to: `/jobs/${job}` }];

/** The repository that a row names; empty: none. */
export function repositoryOf(item: TraceItem): string {
  switch (item.kind) {
    case 'event':
      return item.event.repository?.fullName ?? '';
    case 'job':
      return item.job.repository.fullName;
    case 'worker':
      return item.worker.repository ?? '';
    case 'operation':
    case 'action':
      return '';
    default:
      return item satisfies never;
  }
}

/** One row may stand there with each of its instants. */
export const keyOf = (item: TraceItem): string => `${item.kind} ${idOf(item)} ${item.what}`;

function idOf(item: TraceItem): string | number {
  switch (item.kind) {
    case 'event':
      return item.event.id;
    case 'job':
      return item.job.id;
    case 'worker':
      return item.worker.name;
    case 'operation':
      return item.operation.id;
    case 'action':
      return item.action.id;
    default:
      return item satisfies never;
  }
}
