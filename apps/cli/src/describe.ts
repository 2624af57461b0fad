import type { AnswerOf, Item } from '@paddock/api/endpoints';
import { operationFilter } from '@paddock/api/operations/list-operations';
import type { DrainedPool } from '@paddock/api/workers/drain';
import { duration } from '@paddock/domain/text/duration';
import { table } from './ask-command.ts';
import type { Fields } from './asker.ts';
import { asYaml, columns, more, pairs, printable } from './columns.ts';
import { type Given, WrongUsage } from './command.ts';

type List = AnswerOf<'listOperations'>;

const operationTable = table<Item<'listOperations'>>(
  [
    'id',
    'kind',
    ['SUBJECT', ({ subject }) => `${subject.type}:${subject.name ?? subject.id}`],
    'status',
    ['ATTEMPT', ({ attempt, maxAttempts }) => `${attempt}/${maxAttempts}`],
    ['QUEUED', ({ queuedAt }) => queuedAt],
    ['ENDED', ({ finishedAt }) => finishedAt],
    ['BY', ({ requestedBy }) => requestedBy],
    [
      'WHY',
      ({ waitsFor, failure }) =>
        waitsFor === null
          ? failure && `${failure.reason}: ${failure.message}`
          : `waits for ${waitsFor}`,
    ],
    [
      'DEALT WITH',
      ({ handled }) =>
        handled && `${handled.retriedAs === null ? 'discarded' : 'retried'} by ${handled.by}`,
    ],
  ],
  'There is no such operation.',
);

export const describeOperations = ({ items, next }: List): string =>
  items.some(({ output }) => output !== undefined)
    ? asYaml(items) + more(next)
    : operationTable({ items, next });

type Operation = AnswerOf<'findOperation'>;

/** One line about an operation that was asked for: what it is, and who asked for it first. */
export const describeStarted = ({ id, kind, subject, status, requestedBy }: Operation): string =>
  `${status.toLowerCase()}: ${kind} of ${printable(subject.name ?? subject.id)}, asked for by ${printable(requestedBy ?? '-')}. See \`paddock operation ${id}\`.\n`;

export const describeHandled =
  (done: string) =>
  ({ operations, more: others, dryRun, paused }: AnswerOf<'handleFailedOperations'>): string =>
    [
      `${operations} failed operations ${dryRun ? `would be ${done}` : `are ${done}`}.`,
      ...(paused > 0 ? [`${paused} are left: their sweep is paused.`] : []),
      ...(others ? ['There are more: repeat the command.'] : []),
      '',
    ].join('\n');

export function describeDrained({ output }: Operation): string {
  const { stopping, busy, dryRun = false } = output as DrainedPool;
  return `${stopping} workers ${dryRun ? 'would stop' : 'are to stop'}; ${busy} go on to the end of their jobs.\n`;
}

/** Which failed operations are meant must be said: a forgotten filter would mean all. */
export const readFailed =
  (how: 'retry' | 'discard') =>
  ({ options: { all, ...options } }: Given): Fields => {
    const isNarrowed = Object.keys(operationFilter).some((name) => options[name] !== undefined);
    if (isNarrowed === (all === true))
      throw new WrongUsage(
        'It takes either --all, or some of --subject, --kind, --reason, --from and --to.',
      );
    return { how };
  };

/** Of what it says, by its kind: what to look up, and where. */
function rowOf(
  item: Item<'trace'>,
): [id: string | number, job: number | null, repository: string | null] {
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

export function describeTrace({ entity, items, next }: AnswerOf<'trace'>): string {
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

type Usage = AnswerOf<'listUsage'>;

export const describeUsage = ({ from, to, summedAt, total, items, next }: Usage): string =>
  columns(
    ['OF', 'JOBS', 'WORKERS', 'MINUTES', 'WEEK BEFORE', 'IDLE', 'THROWN AWAY', 'QUEUED P50', 'P95'],
    [
      ...items.map((row) => [
        nameOf(row),
        ...figures(row),
        row.queuedSeconds && `${row.queuedSeconds.p50} s`,
        row.queuedSeconds && `${row.queuedSeconds.p95} s`,
      ]),
      ...(items.length === 0 ? [] : [['in all', ...figures(total), null, null]]),
    ],
    `Nothing has ended from ${from} to ${to}.`,
  ) +
  `\nFrom ${from} to ${to}, summed up ${summedAt === null ? 'never: the sweep upkeep has summed up nothing' : `at ${summedAt}`}\n` +
  more(next);

type Compared = Item<'compareRunners'>;

const cellOf = (side: Compared['ours'], figure: keyof Compared['ours']) => {
  const value = side[figure];
  return value !== null && figure.startsWith('p') ? `${value} s` : value;
};

const ofSide = (side: 'ours' | 'others') =>
  (['jobs', 'p50', 'p95', 'failed'] as const).map(
    (figure) =>
      [`${side} ${figure}`.toUpperCase(), (row: Compared) => cellOf(row[side], figure)] as const,
  );

export const describeCompared = table<Compared>(
  [['LABELS', ({ labels }) => labels.join(',')], ...ofSide('ours'), ...ofSide('others')],
  'No job has ended since.',
);

const percent = (share: number | null): string | null =>
  share === null ? null : `${(share * 100).toFixed(1)} %`;

function nameOf({ entity, repository, workflow, pool, at }: Item<'listUsage'>): string {
  if (at !== null) return at;
  if (pool !== null) return pool;
  if (entity !== null) return entity.login ?? String(entity.id);
  if (repository === null) return 'workers without a job';
  const name = repository.fullName ?? String(repository.id);
  return workflow === null ? name : `${name} / ${workflow}`;
}

const figures = (sums: Usage['total']) => [
  sums.jobs,
  sums.workers,
  sums.runnerMinutes.toFixed(1),
  sums.before?.runnerMinutes.toFixed(1) ?? null,
  percent(sums.idleShare),
  percent(sums.thrownAwayShare),
];

export function readRepository({ words: [word = ''] }: Given): Fields {
  const [owner = '', name = '', ...others] = word.split('/');
  if (owner === '' || name === '' || others.length > 0)
    throw new WrongUsage('A repository is OWNER/NAME.');
  return { owner, repository: name };
}

const SHOWN_BY = {
  job: 'why',
  run: 'why',
  repository: 'repository',
  entity: 'diagnose',
  pool: 'pools',
  event: 'trace payload',
  worker: 'worker',
  node: 'workers --node',
  operation: 'operation',
  delivery: 'delivery',
  installation: 'installation',
} as const satisfies Record<Item<'find'>['kind'], string>;

export function commandFor({ kind, id, name }: Item<'find'>): string {
  if (kind === 'pool') return SHOWN_BY.pool;
  if (kind === 'run') return `${SHOWN_BY.run} ADDRESS`;
  return `${SHOWN_BY[kind]} ${kind === 'repository' || kind === 'entity' ? (name ?? id) : id}`;
}

export function describeSwitch({ subject, held }: AnswerOf<'turnSwitch'>): string {
  if (held === null) return `${subject} goes on.\n`;
  const why = held.note === null ? '' : `: ${printable(held.note)}`;
  return `${subject} is paused by ${printable(held.by)} since ${held.since}${why}\n`;
}

export const sweepTable = table<Item<'listSweeps'>>(
  [
    'name',
    ['SUCCEEDED', ({ succeededAt }) => succeededAt],
    ['LAST RUN', ({ lastRun }) => lastRun && `${lastRun.status} ${lastRun.endedAt}`],
    ['TOOK', ({ lastRun }) => lastRun && duration(lastRun.tookMs)],
    ['PAUSED BY', ({ pausedBy }) => pausedBy],
    ['NOT REACHED', ({ unreached, failing }) => [...unreached, ...failing].join(', ') || null],
    ['WHY', ({ lastRun }) => lastRun && lastRun.message],
  ],
  'The reconciler has not begun yet.',
);

export const tokenTable = table<Item<'listTokens'>>(
  [
    'name',
    'access',
    ['ONLY', ({ narrowedTo: to }) => to && `${to.endpoint} ${pairs(to.subject)}`],
    ['CREATED', ({ createdAt }) => createdAt],
    ['BY', ({ createdBy }) => createdBy],
    ['LAST USED', ({ lastUsedAt }) => lastUsedAt],
    ['REVOKED', ({ revokedAt }) => revokedAt],
    ['BY', ({ revokedBy }) => revokedBy],
  ],
  'There is no token.',
);

/** What a new token may do; its subject from `owner=acme,repository=app`. */
export const readAccess = ({ options: { access = 'read', subject } }: Given): Fields => ({
  access,
  ...(typeof subject === 'string' && {
    subject: Object.fromEntries(
      subject.split(',').map((pair) => {
        const [, field, value] = /^(\w+)=(.+)$/.exec(pair) ?? [];
        if (field === undefined || value === undefined)
          throw new WrongUsage('--subject takes FIELD=VALUE, with a comma between each two.');
        return [field, value];
      }),
    ),
  }),
});
