import { describe, expect, test } from '@jest/globals';
import { fc } from '@paddock/testing/random-cases';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { normaliseLabels } from '../text/storable.ts';
import { keysOfPools, pool as poolSchema } from './pool.ts';
import { documentOf, poolWith, problemsIn, problemsOf } from '../scenes/pools-document.scene.ts';
import { poolsFor, sharedLabels } from './labels.ts';
import { admittingLogin, entityRule } from './pools-document.ts';

const pool = (name: string, labels: string[], more: object = {}) => ({ name, labels, ...more });

describe('labels', () => {
  test('are lower-cased, made unique and sorted by code unit (A2)', () => {
    const labels = ['X64', 'self-hosted', 'x64', 'Zed', '10', '9', 'é'];
    expect(normaliseLabels(labels).join(' ')).toBe('10 9 self-hosted x64 zed é');
  });

  test('normalising twice changes nothing, and order and case of the input do not matter', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (labels) => {
        const once = normaliseLabels(labels);
        expect(normaliseLabels(once)).toEqual(once);
        expect(normaliseLabels(labels.toReversed())).toEqual(once);
      }),
    );
  });
});

describe('the pool for a job (B4)', () => {
  const small = pool('small', ['self-hosted', 'linux']);
  const big = pool('big', ['self-hosted', 'Linux', 'gpu']);
  const { pools } = documentOf([small, big]);

  test.each([
    [['self-hosted'], 'small', 'fewest labels win'],
    [['Self-Hosted', 'LINUX'], 'small', 'case does not matter'],
    [['gpu'], 'big', 'a subset is enough'],
    [['linux', 'gpu', 'gpu'], 'big', 'a label twice is the label once'],
    [['self-hosted', 'windows'], undefined, 'every label must be there'],
    [[], undefined, 'no labels fit no pool'],
  ])('%j → %s: %s', (labels, expected, _why) => {
    expect(poolsFor(pools, labels)[0]?.name).toBe(expected);
  });

  test('equally many labels: priority decides, then the name', () => {
    const a = pool('a', ['x', 'a']);
    const b = pool('b', ['x', 'b']);
    expect(poolsFor(documentOf([b, a]).pools, ['x'])[0]?.name).toBe('a');
    expect(poolsFor(documentOf([a, { ...b, priority: 1 }]).pools, ['x'])[0]?.name).toBe('b');
  });
});

describe('label sets that fit several pools (B4)', () => {
  test('are reported with their pools, the one that serves them first, each set once', () => {
    const { pools } = documentOf([
      pool('b', ['x', 'y', 'b']),
      pool('a', ['x', 'Y', 'a', 'c']),
      pool('d', ['x', 'd']),
      pool('e', ['e']),
    ]);
    expect(sharedLabels(pools)).toEqual([
      { labels: ['x', 'y'], pools: ['b', 'a'] },
      { labels: ['x'], pools: ['d', 'b', 'a'] },
    ]);
    expect(sharedLabels(documentOf([pool('a', ['x']), pool('b', ['y'])]).pools)).toEqual([]);
  });

  test('are different sets even if their labels have the same letters in a row', () => {
    const sets = [
      ['ab', 'c', 'one'],
      ['ab', 'c', 'two'],
      ['a', 'bc', 'three'],
      ['a', 'bc', 'four'],
    ];
    const { pools } = documentOf(sets.map((labels, nth) => pool(`p${nth}`, labels)));
    expect(sharedLabels(pools).map(({ labels }) => labels)).toEqual([
      ['ab', 'c'],
      ['a', 'bc'],
    ]);
  });
});

/** The cap of the entity acme with the id 11. */
function capOf(caps: Record<string, number>): number | null | undefined {
  const entities = Object.fromEntries(
    Object.entries(caps).map(([key, maxWorkers]) => [key, { maxWorkers }]),
  );
  return entityRule(documentOf([], entities), { id: 11, login: 'acme' })?.maxWorkers;
}

describe('the pools document', () => {
  test('all problems are reported at once, unknown keys and those between pools among them (H1)', () => {
    const pools = [
      { ...pool('Bad Name', []), maxWorker: 3 },
      pool('a', ['x']),
      pool('a', ['y']),
      { labels: undefined },
      pool('c', ['z'], { runnerGroupVisibility: 'private', publicRepositories: true }),
    ];
    const problems = problemsOf(pools, { a: { maxWorkers: -1 }, A: {} });
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(
      expect.arrayContaining([
        'pools.0.name',
        'pools.0.labels',
        'pools.0',
        'entities.a.maxWorkers',
      ]),
    );
    expect(problems).toEqual(
      expect.arrayContaining([
        'pools.2.name: there is another pool named a',
        'entities: the same login is listed twice',
        expect.stringContaining('pools.3.labels: '),
        expect.stringContaining('pools.4.runnerGroupVisibility: private keeps'),
      ]),
    );
    expect(problemsIn('nothing of the kind')).toHaveLength(1);
  });

  test('an entity needs its own rule or the star, which must be written out', () => {
    const document = documentOf([], { Acme: { maxWorkers: null }, '*': {} });
    const other = { id: 2, login: 'else' };
    expect(entityRule(document, { id: 1, login: 'aCME' })).toEqual({ maxWorkers: null, weight: 1 });
    expect(entityRule(document, other)).toEqual({ maxWorkers: 20, weight: 1 });
    expect(entityRule(documentOf([], { Acme: {} }), other)).toBeUndefined();
  });

  test('common limits of entities are written under * only, and absent where they are not written (C4)', () => {
    const common = { commonMaxWorkers: 40, commonWeight: 2 };
    const star = { maxWorkers: 20, weight: 1 };
    expect(documentOf([], { '*': common }).entities['*']).toEqual({ ...star, ...common });
    expect(documentOf([]).entities['*']).toStrictEqual(star);
  });

  test("an entity's id wins over its login, its login over the star", () => {
    expect(capOf({ '*': 1, acme: 2, 'id:11': 3 })).toBe(3);
    expect(capOf({ '*': 1, Acme: 2, 'id:12': 3 })).toBe(2);
    expect(capOf({ '*': 1, 'id:1': 3, 'id:111': 4 })).toBe(1);
    expect(capOf({ 'id:12': 3 })).toBeUndefined();
  });

  const wrong = ['', '0', '007', 'acme', ' 12', '99999999999999999'].map((id) => `id:${id}`);
  test.each([...wrong, 'ID:12', 'id :12', ' id:12'])('%j is no key of an entity', (key) => {
    expect(problemsOf([], { [key]: {} }).join()).toContain(
      `entities.${key}: must be id: and the entity's number`,
    );
  });

  test('a key that only ends like an id is not taken for one', () => {
    expect(problemsOf([], { 'grid:12': {} })).toEqual([]);
  });
});

test('a login admits an entity by the entities or by the gate of the pool, unless its id does (A12)', () => {
  const pools = [pool('a', ['x'], { entities: ['acme'] }), pool('b', ['y'])];
  const document = documentOf(pools, { Beta: {}, 'id:3': {}, '*': {} });
  const by = (id: number, login: string, name: string) =>
    admittingLogin(document, { id, login }, { pool: name });
  expect([by(1, 'Acme', 'a'), by(2, 'BETA', 'a'), by(2, 'BETA', 'b')]).toEqual([
    'acme',
    'beta',
    'beta',
  ]);
  expect(by(1, 'Acme', 'b') ?? by(1, 'Acme', 'gone') ?? by(3, 'beta', 'b')).toBeUndefined();
});

const placesOf = (settings: object): string[] =>
  (poolSchema.safeParse(poolWith(settings)).error?.issues ?? []).map(({ path }) => path.join('.'));

describe('the limits of a pool’s settings', () => {
  test.each([
    ['name', 'a'.repeat(30), true],
    ['name', 'a'.repeat(31), false],
    ['name', 'a.b-c9', true],
    ['name', '9a', false],
    ['name', 'a-', false],
    ['namespace', 'r'.repeat(63), true],
    ['namespace', 'r'.repeat(64), false],
    ['namespace', 'r', true],
    ['namespace', '-r', false],
    ['namespace', 'r-', false],
    ['namespace', 'Runners', false],
    ['labels', ['x'.repeat(256)], true],
    ['labels', ['x'.repeat(257)], false],
    ['labels', [''], false],
    ['labels', [], false],
    ['labels', Array.from({ length: 100 }, (_, nth) => `l${nth}`), true],
    ['labels', Array.from({ length: 101 }, (_, nth) => `l${nth}`), false],
    ['maxUnschedulable', 50, true],
    ['maxUnschedulable', 0, false],
    ['pendingDeadlineSeconds', 10, true],
    ['pendingDeadlineSeconds', 9, false],
    ['idleDeadlineSeconds', 86_400, true],
    ['registrationDeadlineSeconds', 86_401, false],
  ])('%s %j: %s', (key, value, isTaken) => {
    const problems = placesOf({ [key]: value });
    expect(problems.length === 0).toBe(isTaken);
    for (const problem of problems) expect(problem).toMatch(new RegExp(`^${key}`));
  });

  test('it makes workers, keeps logs, and serves no public repository, unless it says otherwise', () => {
    const usual = { paused: false, keepLogs: true, publicRepositories: false };
    expect(poolSchema.parse(poolWith({}))).toMatchObject(usual);
  });
});

test('docs/pools.md names every key of a pool once, and no other (H6)', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/pools.md'), 'utf8');
  const keys = page.slice(page.indexOf('## Keys'), page.indexOf('## Resources'));
  const named = Array.from(keys.matchAll(/^\| `(\w+)`/gm), ([, key = '']) => key);
  expect(named.toSorted()).toEqual(keysOfPools.toSorted());
});
