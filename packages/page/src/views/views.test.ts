import { describe, expect, test } from '@jest/globals';
import type { Item } from '../answers.ts';
import { greatest, instantsOf, inWords, lineOf } from '../parts/last-hour.ts';
import { toneOf } from '../text/words.ts';
import { inOrder, stretchesOf, totalsOf } from './board.ts';
import { filtersFor, isWaiting, queuedOf, ranOf, reasonPath, stateOf as jobState } from './jobs.ts';
import { sumByKind } from './operations.ts';
import { subjectOf } from './usage.ts';
import { conditionInWords, endOf, remarkOf, stateOf as workerState } from './workers.ts';

const pool = (given: Partial<Item<'listPools'>>): Item<'listPools'> => ({
  name: 'linux',
  inForce: true,
  labels: [],
  demand: { waiting: 0, oldestSince: null, oldestJob: null },
  supply: { starting: 0, idle: 0, busy: 0, stopping: 0 },
  cap: null,
  lastHour: { started: 0, queuedP50Ms: null, queuedP95Ms: null },
  ...given,
});

const demand = (waiting: number, oldestSince: string) => ({ waiting, oldestSince, oldestJob: 1 });

describe('the board', () => {
  test('draws demand only as far as no worker comes for it, and room only beside that', () => {
    const busy = pool({
      demand: demand(9, '2026-01-31T09:00:00Z'),
      supply: { starting: 2, idle: 1, busy: 5, stopping: 0 },
      cap: { used: 8, limit: 20 },
    });
    expect(stretchesOf(busy)).toEqual([
      { what: 'busy', many: 5 },
      { what: 'idle', many: 1 },
      { what: 'starting', many: 2 },
      { what: 'waiting', many: 6 },
      { what: 'free', many: 6 },
    ]);
    expect(stretchesOf(pool({ cap: { used: 9, limit: 5 } }))).toEqual([]);
  });

  test('sums the pools, and shows those in trouble or in demand first', () => {
    const pools = [
      pool({ name: 'a' }),
      pool({ name: 'b', demand: demand(2, '2026-01-31T09:00:02Z') }),
      pool({ name: 'c', demand: demand(1, '2026-01-31T09:00:01Z') }),
    ];
    expect(inOrder(pools, new Set('c')).map(({ name }) => name)).toEqual(['c', 'b', 'a']);
    expect(totalsOf(pools)).toMatchObject({ waiting: 3, oldest: '2026-01-31T09:00:01Z' });
    expect(totalsOf([]).oldest).toBeUndefined();
  });
});

type Job = Item<'listJobs'>;
const job = (given: Partial<Job>) =>
  ({ state: 'ended', conclusion: null, failure: null, createdAt: 'c', ...given }) as Job;

describe('a job', () => {
  test.each([
    [{ state: 'waiting' }, 'waiting', 'wait'],
    [{ state: 'running' }, 'running', 'busy'],
    [{ conclusion: 'success' }, 'success', 'good'],
    [{ conclusion: 'timed_out' }, 'timed out', 'bad'],
    [{ conclusion: 'skipped' }, 'skipped', undefined],
    [{ failure: 'GitHub does not know it' }, 'given up', undefined],
    [{}, 'no conclusion', undefined],
  ] as const)('of %j is %s', (given, word, tone) => {
    expect([jobState(job(given)), toneOf(word)]).toEqual([word, tone]);
  });

  test.each([
    [{ state: 'waiting', queuedAt: 'q' }, { from: 'q', to: null }, undefined],
    // GitHub called it queued again.
    [{ state: 'waiting', queuedAt: 'q', startedAt: 's' }, { from: 'q', to: 's' }, undefined],
    [
      { state: 'running', startedAt: 's' },
      { from: 'c', to: 's' },
      { from: 's', to: null },
    ],
    [
      { queuedAt: 'q', startedAt: 's', completedAt: 'e' },
      { from: 'q', to: 's' },
      { from: 's', to: 'e' },
    ],
    [{ queuedAt: 'q', completedAt: 'e' }, { from: 'q', to: 'e' }, undefined],
  ] as const)('of %j was queued and ran as long as is known', (given, queued, ran) => {
    const row = job({ queuedAt: null, startedAt: null, completedAt: null, ...given });
    expect([queuedOf(row), ranOf(row)]).toEqual([queued, ran]);
  });

  test.each([
    ['state=waiting&repository=a', 'reason entity repository pool workflow from to'],
    ['state=running', 'entity repository pool workflow from to'],
    ['repository=a', 'repository workflow conclusion from to'],
    ['state=ended&pool=a', 'entity pool conclusion from to'],
    ['', 'entity repository pool conclusion from to'],
  ])('is filtered, at %s, by %s', (query, filters) => {
    expect(filtersFor(new URLSearchParams(query)).join(' ')).toBe(filters);
  });
});

const NEW = { state: 'pending', job: null, stuck: null, stop: null, failure: null };
type Worker = Item<'listWorkers'>;
const worker = (given: Partial<Worker>) => ({ ...NEW, ...given }) as Worker;

describe('a worker', () => {
  test.each([
    [{}, 'pending', ''],
    [{ stuck: { reason: 'image_pull', since: null } }, 'stuck', 'image pull'],
    [{ state: 'running' }, 'idle', ''],
    [{ state: 'running', job: 7 }, 'busy', ''],
    [{ state: 'stopping', stop: { reason: 'surplus', since: null } }, 'stopping', 'surplus'],
    [{ state: 'failed', failure: 'killed' }, 'failed', 'killed'],
  ] as const)('of %j is %s', (given, word, remark) => {
    expect([workerState(worker(given)), remarkOf(worker(given))]).toEqual([word, remark]);
  });

  test('has a diagnosis in words', () => {
    const said = { reason: 'X', message: null };
    expect([
      conditionInWords({ type: 'Ready', status: 'False', ...said }),
      conditionInWords({ type: 'Ready', status: 'False', ...said, reason: '' }),
      endOf({ name: 'runner', exitCode: 137, log: null, ...said, message: 'killed' }),
      endOf({ name: 'runner', exitCode: null, log: null, ...said }),
    ]).toEqual(['Ready is False: X', 'Ready is False', 'exit code 137, X, killed', 'X']);
  });
});

const counted = (kind: string, outcome: 'OK' | 'ERROR', ended: number, reason: string | null) =>
  ({ kind, outcome, ended, reason, from: '' }) satisfies Item<'countOperations'>;

test('operations are summed by kind, those with failures first', () => {
  expect(
    sumByKind([
      counted('a', 'OK', 5, null),
      counted('b', 'OK', 1, null),
      counted('b', 'ERROR', 2, 'poison'),
      counted('b', 'ERROR', 3, 'attempts'),
      counted('b', 'ERROR', 4, 'poison'),
    ]),
  ).toEqual([
    { kind: 'b', good: 1, bad: 9, reasons: ['6 cannot be done', '3 out of attempts'] },
    { kind: 'a', good: 5, bad: 0, reasons: [] },
  ]);
});

const API = { id: 7, fullName: 'acme/api' };

test.each([
  [{ pool: 'gpu' }, 'gpu', { pool: 'gpu' }],
  [{ repository: API }, 'acme/api', { repository: 'acme/api' }],
  [{ repository: { id: 7, fullName: null } }, '7', { repository: '7' }],
  [{ repository: API, workflow: 'CI' }, 'acme/api: CI', { repository: 'acme/api', workflow: 'CI' }],
  [{ entity: { id: 9, login: 'acme' } }, 'acme', { entity: 'acme' }],
  [{}, null, {}],
])('usage of %j leads to its jobs', (given, name, filters) => {
  const none = { entity: null, repository: null, workflow: null, pool: null };
  const row = { ...none, ...given } as Item<'listUsage'>;
  expect(subjectOf(row)).toEqual({ name, filters });
});

describe('the last hour of a pool', () => {
  const none = [null, null, null];
  const gpu = {
    at: '2026-01-31T09:00:30Z',
    waiting: [null, 0, 4],
    workers: [null, 2, 1],
    busy: [null, 1, 1],
    queuedP50Ms: none,
    queuedP95Ms: none,
  };

  test('is a sentence', () => {
    expect(inWords(gpu)).toBe('Last hour: 4 waiting now and at most 4, 1 worker now and at most 2');
  });

  test('is a line with gaps, as high as the greatest value', () => {
    expect(lineOf(gpu.waiting, 4)).toBe('M1 19L2 1');
    expect(lineOf([1, null, 0], 0)).toBe('M0 1M2 19');
    expect(greatest([], [null])).toBe(0);
  });

  test('ends with its instant', () => {
    expect(instantsOf(gpu)).toEqual([1_769_849_910, 1_769_849_970, 1_769_850_030]);
  });
});

test('counts by reason keep the other filters of waiting jobs', () => {
  const query = new URLSearchParams('state=waiting&pool=gpu&reason=no_capacity&after=x');
  expect([reasonPath(query, 'at_pool_cap'), reasonPath(query, undefined)]).toEqual([
    '/jobs?pool=gpu&state=waiting&reason=at_pool_cap',
    '/jobs?pool=gpu&state=waiting',
  ]);
  const given = ['state=waiting', 'reason=none', 'state=running&reason=none', ''];
  expect(given.map((text) => isWaiting(new URLSearchParams(text)))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
