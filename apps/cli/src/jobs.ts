import { findJobEndpoint } from '@paddock/api/jobs/find-job';
import { listJobsEndpoint } from '@paddock/api/jobs/list-jobs';
import { askCommand } from './ask-command.ts';
import { asYaml } from './as-yaml.ts';
import { columns } from './columns.ts';
import { type Command, PAGE } from './command.ts';
import { DATES, ENTITY, more, POOL } from './list-options.ts';
import { oneWord } from './one-word.ts';

export const jobsCommands: readonly Command[] = [
  askCommand({
    name: 'jobs',
    takes: '',
    summary: `Lists jobs, newest first. Waiting and running ones take any filter; others take a repository
with workflow and conclusion, or an entity, a pool and a conclusion.`,
    options: {
      state: { type: 'string', value: 'waiting|running|ended', doc: 'in this state only' },
      reason: {
        type: 'string',
        value: 'REASON|none',
        doc: 'waiting for this reason, as `paddock top` names it; none: for workers on their way',
      },
      entity: ENTITY,
      repository: { type: 'string', value: 'OWNER/NAME|ID', doc: 'of this repository only' },
      pool: POOL,
      workflow: { type: 'string', value: 'NAME', doc: 'of the workflows of this name only' },
      conclusion: { type: 'string', value: 'WORD', doc: 'ended so, as failure' },
      ...DATES,
      ...PAGE,
    },
    endpoint: listJobsEndpoint,
    input: ({ options }) => options,
    print: ({ items, next }) =>
      columns(
        ['ID', 'STATE', 'REPOSITORY', 'JOB', 'POOL', 'CREATED', 'WORKER', 'WHY'],
        items.map((job) => [
          job.id,
          job.conclusion ?? job.state,
          job.repository.fullName,
          job.workflow === null ? job.name : `${job.workflow} / ${job.name}`,
          job.pool,
          job.createdAt,
          job.worker,
          job.wait === null ? job.failure : `${job.wait.reason} since ${job.wait.since}`,
        ]),
        'There is no such job.',
      ) + more(next),
  }),
  askCommand({
    name: 'job',
    takes: 'ID',
    summary:
      'Shows one job: its timeline, its worker and its deliveries. `paddock why` explains a wait.',
    endpoint: findJobEndpoint,
    input: (given) => ({ job: oneWord(given, 'id') }),
    print: (job) => asYaml(job),
  }),
];
