import { expect, test } from '@jest/globals';
import { classesEndedBy, failureClass, pausesOf, USUAL_FAILURE_RULES } from './failure-classes.ts';

const FAILING = { strikes: 3, reason: 'workers_failing' };

// The names are stored in rows, and written by different services.
test.each([
  [
    'github_error',
    { ...FAILING, endsWith: 'registered', passes: true, isShared: true },
    [30_000, 60_000],
  ],
  [
    'github_refused',
    { strikes: 3, reason: 'installation_refused', endsWith: 'registered', isShared: true },
    [30_000, 900_000],
  ],
  ['invalid', { ...FAILING, endsWith: 'registered' }, [30_000, 900_000]],
  ['conflict', { ...FAILING, endsWith: 'registered' }, [30_000, 900_000]],
  ['unusable', { ...FAILING, endsWith: 'registered' }, [30_000, 900_000]],
  ['pod_refused', { ...FAILING, endsWith: 'pod_created', passes: true }, [30_000, 60_000]],
  [
    'cluster_error',
    { ...FAILING, endsWith: 'pod_created', passes: true, isShared: true },
    [30_000, 60_000],
  ],
  ['image_pull', { ...FAILING, endsWith: 'started', passes: true }, [30_000, 60_000]],
  ['container_config', { ...FAILING, endsWith: 'started', passes: true }, [30_000, 60_000]],
  ['node_refused', { ...FAILING, endsWith: 'started', passes: true }, [30_000, 60_000]],
  ['pending_timeout', { ...FAILING, endsWith: 'started' }, [30_000, 900_000]],
  [
    'outdated_runner',
    { strikes: 2, reason: 'runner_outdated', endsWith: 'assigned' },
    [30_000, 900_000],
  ],
  [
    'not_assigned',
    { strikes: 2, reason: 'github_does_not_assign', endsWith: 'assigned' },
    [600_000, 7_200_000],
  ],
  ['any other', { ...FAILING, endsWith: 'assigned' }, [30_000, 900_000]],
])('failures of the class %s (C11)', (name, expected, [firstPauseMs, longestPauseMs]) => {
  expect(failureClass(name)).toEqual(expected);
  expect(pausesOf(name, USUAL_FAILURE_RULES)).toEqual({ firstPauseMs, longestPauseMs });
});

test('a failure that passes by itself pauses no longer than the rules allow (C11)', () => {
  const rules = { firstPauseMs: 10, longestPauseMs: 15 };
  expect(pausesOf('image_pull', rules)).toEqual(rules);
});

test('a proof ends the classes that it or a weaker one ends, and a job ends all (C11)', () => {
  const registered = ['github_error', 'github_refused', 'invalid', 'conflict', 'unusable'];
  const created = [...registered, 'pod_refused', 'cluster_error'];
  const started = [...created, 'image_pull', 'container_config', 'node_refused', 'pending_timeout'];
  expect(classesEndedBy('registered')).toEqual(registered);
  expect(classesEndedBy('pod_created')).toEqual(created);
  expect(classesEndedBy('started')).toEqual(started);
  expect(classesEndedBy('assigned')).toBeUndefined();
});
