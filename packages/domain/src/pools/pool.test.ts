import { describe, expect, test } from '@jest/globals';
import { pool } from './pool.ts';

const POOL = { name: 'a', labels: ['x'], image: 'runner:1', namespace: 'runners' };
const problemsOf = (settings: object): string[] =>
  (pool.safeParse({ ...POOL, ...settings }).error?.issues ?? []).map(({ path }) => path.join('.'));

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
    const problems = problemsOf({ [key]: value });
    expect(problems.length === 0).toBe(isTaken);
    for (const problem of problems) expect(problem).toMatch(new RegExp(`^${key}`));
  });

  test('it makes workers, and does so for no public repository, unless it says otherwise', () => {
    expect(pool.parse(POOL)).toMatchObject({ paused: false, publicRepositories: false });
  });
});
