import { findWorkerEndpoint } from '@paddock/api/workers/find-worker';
import { listWorkersEndpoint } from '@paddock/api/workers/list-workers';
import type { workerRow } from '@paddock/api/workers/worker';
import type { z } from 'zod';
import { askCommand } from './ask-command.ts';
import { asYaml } from './as-yaml.ts';
import { columns } from './columns.ts';
import { type Command, PAGE } from './command.ts';
import { DATES, ENTITY, more, POOL } from './list-options.ts';
import { oneWord } from './one-word.ts';

const table = (items: readonly z.input<typeof workerRow>[]): string =>
  columns(
    ['NAME', 'STATE', 'POOL', 'ENTITY', 'JOB', 'CREATED', 'WHY'],
    items.map(({ stuck, stop, failure, ...row }) => [
      row.name,
      row.state,
      row.pool,
      row.entity.login,
      row.job,
      row.createdAt,
      // Some failures have no words but their reason: it stands there once.
      [...new Set([stuck?.reason, stop?.reason, failure])].filter((why) => why).join(': ') || null,
    ]),
    'There is no such worker.',
  );

export const workersCommands: readonly Command[] = [
  askCommand({
    name: 'workers',
    takes: '',
    summary: 'Lists workers, newest first, with why they are stuck, are stopped or have failed.',
    options: {
      state: {
        type: 'string',
        value: 'pending|running|stopping|ended|failed',
        doc: 'in this state only; a failed one has not `ended`',
      },
      entity: ENTITY,
      pool: POOL,
      ...DATES,
      ...PAGE,
    },
    endpoint: listWorkersEndpoint,
    input: ({ options }) => options,
    print: ({ items, next }) => table(items) + more(next),
  }),
  askCommand({
    name: 'worker',
    takes: 'NAME',
    summary: `Shows one worker: its timeline, the job that it runs or ran, and the diagnosis of its pod with
the end of its log.`,
    endpoint: findWorkerEndpoint,
    input: (given) => ({ worker: oneWord(given, 'name') }),
    print: (worker) => asYaml(worker),
  }),
];
