import type { Asked } from './asked.ts';

/** A page of the API by its path below `/api/v1/`, without `limit` and `after`. */
export interface Page {
  readonly name: string;
  /** The `n`th question: about something else than the one before. */
  readonly path: (n: number) => string;
  /** Not a list: it takes no `limit`. */
  readonly isOne?: true;
  /** Its last page is behind what it answers to `to` at the beginning of the year. */
  readonly hasDates?: true;
}

/** Filters by what they are called here. Each has values that many rows have, few, and none. */
type Filters = Readonly<Record<string, readonly string[]>>;

/** A page for each combination of filters; its questions go through all their values. */
const combined = (
  what: string,
  filters: Filters,
  all: readonly string[],
  kind: Pick<Page, 'hasDates'> = {},
): Page[] =>
  all.map((given) => {
    const names = given.split(' ').filter((name) => name !== '');
    const path = what.includes('?') ? `${what}&` : `${what}?`;
    return {
      ...kind,
      name: names.length === 0 ? what : `${what} by ${names.join(', ')}`,
      path: (n) => path + valuesOf(filters, names, n).join('&'),
    };
  });

function valuesOf(filters: Filters, names: readonly string[], n: number): string[] {
  let rest = n;
  return names.map((name) => {
    const values = filters[name] ?? [];
    const value = values[rest % values.length] ?? '';
    rest = Math.floor(rest / values.length);
    return value;
  });
}

const named = (name: string, values: readonly (string | number)[]): string[] =>
  values.map((value) => `${name}=${encodeURIComponent(value)}`);

const each = <T>(name: string, of: readonly T[], path: (one: T) => string): Page => ({
  name,
  isOne: true,
  path: (n) => {
    const one = of[n % of.length];
    if (one === undefined) throw new Error(`The filled rows have nothing for: ${name}.`);
    return path(one);
  },
});

/**
 * Every list, trace, usage and why page, with its filters alone and together. A file of usage is none:
 * it has up to ten thousand rows.
 */
export const pagesOf = (asked: Asked): Page[] => [
  ...listsOfWork(asked),
  ...usagePages(asked),
  ...traces(asked),
  ...listsOfTasks(asked),
  ...whys(asked),
  ...onesOf(asked),
];

/** The one with a third of all, one with a hundredth, and one with hardly any; by login and id. */
const entitiesOf = ({ entities }: Asked): string[] => [
  'entity-1',
  String(Math.ceil(entities / 10)),
  `ENTITY-${entities}`,
  'former-4',
];
const REPOSITORY = 'repository';
const OLD_DAYS = ['from=-200d&to=-190d', 'from=-24h', 'from=-9d&to=-2d', 'to=-364d'];

function listsOfWork(asked: Asked): Page[] {
  const common = {
    entity: named('entity', entitiesOf(asked)),
    pool: named('pool', ['pool-7', 'pool-11', '(none)']),
    dates: OLD_DAYS,
  };
  const jobs: Filters = {
    ...common,
    repository: named(REPOSITORY, asked.repositories),
    waiting: ['state=waiting'],
    reason: named('reason', ['at_pool_cap', 'none', 'pool_closed']),
    running: ['state=running'],
    ended: ['state=ended'],
    workflow: named('workflow', ['CI', 'Deploy 55', 'none']),
    conclusion: named('conclusion', ['success', 'failure', 'timed_out', 'none']),
  };
  const ended = ['', 'dates', 'conclusion', 'conclusion dates'].flatMap((more) => [
    more,
    `pool ${more}`,
    `entity ${more}`,
    `entity pool ${more}`,
    `repository ${more}`,
    `repository workflow ${more}`,
  ]);
  const active = ['', 'dates', 'entity', 'repository', 'pool', 'workflow', 'entity pool dates'];
  const all = [...ended, 'ended', 'ended entity', 'ended pool', 'ended repository dates'];
  const of = ['waiting', 'running'].flatMap((state) => active.map((more) => `${state} ${more}`));
  const reasons = ['reason', 'reason entity', 'reason repository', 'reason pool dates'];
  const everything = ['waiting entity repository pool workflow dates', ...reasons];
  const workers: Filters = {
    ...common,
    live: named('state', ['pending', 'running', 'stopping']),
    ended: named('state', ['ended', 'failed']),
  };
  const places = ['', 'entity', 'pool', 'entity pool', 'dates', 'entity pool dates'];
  return [
    ...combined('jobs', jobs, [...all, ...of, ...everything], { hasDates: true }),
    ...combined(
      'workers',
      workers,
      ['', 'live ', 'ended '].flatMap((state) => places.map((more) => state + more)),
      { hasDates: true },
    ),
  ];
}

function usagePages(asked: Asked): Page[] {
  const filters: Filters = {
    month: ['from=-31d', 'from=-131d&to=-100d'],
    entity: named('entity', entitiesOf(asked)),
    pool: named('pool', ['pool-7', 'pool-11', '(none)']),
    repository: named(REPOSITORY, asked.repositories),
  };
  const all = ['', 'month', 'month entity', 'month pool', 'month repository', 'month entity pool'];
  return ['repository', 'workflow', 'pool', 'entity'].flatMap((by) =>
    combined(`usage?by=${by}`, filters, all),
  );
}

function traces(asked: Asked): Page[] {
  const filters: Filters = {
    kind: named('kind', ['event', 'job', 'worker', 'operation', 'action']),
    dates: OLD_DAYS,
  };
  const all = ['', 'kind', 'dates', 'kind dates'];
  const traceOf = (name: string, path: (n: number) => string): Page[] =>
    combined('', filters, all).map((page) => ({
      hasDates: true,
      name: `trace of ${name}${page.name}`,
      path: (n) => path(n) + page.path(n),
    }));
  const entities = entitiesOf(asked);
  const jobs = [...asked.jobs, ...asked.waitingJobs, ...asked.unservedJobs];
  return [
    ...traceOf('an entity', (n) => `trace/entity/${entities[n % entities.length]}`),
    ...traceOf(
      'an installation',
      (n) => `trace/installation/${[1, 2, asked.entities][n % 3] ?? 1}`,
    ),
    ...traceOf('a job’s entity', (n) => `trace/job/${jobs[(n * 7) % jobs.length]}`),
    { name: 'trace of a job', path: (n) => `trace/job/${jobs[(n * 7) % jobs.length]}?only=job` },
  ];
}

function listsOfTasks({ subjects }: Asked): Page[] {
  const filters: Filters = {
    subject: named('subject', [...subjects.slice(0, 3), ...subjects.slice(-2), 'worker:none']),
    detail: ['detail=true'],
    kind: named('kind', ['discover-jobs', 'provision-worker', 'none']),
    dates: ['from=-24h', 'from=-13d&to=-10d'],
  };
  const failed = ['', 'kind', 'dates', 'kind dates'];
  return [
    ...combined('operations', filters, ['subject', 'subject detail']),
    ...combined('failed-operations', filters, failed),
    ...['redeliveries/given-up'].flatMap((what) => combined(what, filters, ['', 'dates'])),
    ...['redeliveries', 'installations', 'stops', 'actions', 'tokens'].flatMap((what) =>
      combined(what, filters, ['']),
    ),
  ];
}

const whys = (asked: Asked): Page[] => [
  each('why a job waits', asked.waitingJobs, (job) => `jobs/${job}/why`),
  each('why a job ended', asked.jobs, (job) => `jobs/${job}/why`),
  each('why no pool serves a job', asked.unservedJobs, (job) => `jobs/${job}/why`),
  each('why a run waits', asked.runs, ({ id, owner }) => `runs/${id}/why?owner=${owner}&limit=100`),
  each('diagnoses of an entity', entitiesOf(asked), (one) => `diagnoses?of=${one}`),
  each('diagnoses of a repository', asked.repositories, (one) => `diagnoses?of=${one}`),
];

function onesOf(asked: Asked): Page[] {
  const { jobs, waitingJobs, workers, liveWorkers, events, operations, repositories } = asked;
  const counts = ['', '&kind=stop-worker', '&step=day'].flatMap((more) =>
    ['-24h', '-7d', '-31d'].map((from) => `operations/counts?from=${from}${more}`),
  );
  const states = ['', '?at=-100d'].flatMap((at) =>
    [1, 2, asked.entities].map((id) => `installations/${id}/state${at}`),
  );
  return [
    each('one job', [...jobs, ...waitingJobs], (job) => `jobs/${job}`),
    each('one worker', [...workers, ...liveWorkers], (name) => `workers/${name}`),
    each('one operation', operations, (id) => `operations/${id}`),
    each('payload of an event', events, (id) => `trace/payload/${id}`),
    each('state of an installation', states, (path) => path),
    each('resync of a repository', repositories, (name) => `repositories/${name}/resync`),
    each('pools', ['pools'], (path) => path),
    each('waits', ['waits', 'waits?pool=pool-7'], (path) => path),
    each('last hour of the pools', ['pools/last-hour'], (path) => path),
    each('counts of operations', counts, (path) => path),
  ];
}
