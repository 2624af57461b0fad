import { expect, test } from '@jest/globals';
import { selectorOf } from './selectors.ts';

const object = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'a',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '',
    labels: { app: 'x', 'paddock.dev/instance': 'abc' },
  },
  status: { phase: 'Running' },
};

test.each([
  ['labelSelector', 'app=x,paddock.dev/instance=abc', true],
  ['labelSelector', 'app=y', false],
  ['labelSelector', 'app!=y', true],
  ['labelSelector', 'other!=y', true],
  ['labelSelector', 'app in (x, y),app', true],
  ['labelSelector', 'app notin (x,y)', false],
  ['labelSelector', '!other', true],
  ['labelSelector', 'other', false],
  ['fieldSelector', 'metadata.name=a,status.phase!=Failed', true],
  ['fieldSelector', 'status.phase=Failed', false],
  ['fieldSelector', '', true],
])('%s %s gives %s', (kind, selector, expected) => {
  expect(selectorOf(new URLSearchParams({ [kind]: selector }))(object)).toBe(expected);
});

test('refuses a selector that it cannot parse', () => {
  expect(() => selectorOf(new URLSearchParams({ labelSelector: 'a in b' }))).toThrow(
    'unable to parse',
  );
});
