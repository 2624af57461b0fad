import { expect, test } from '@jest/globals';
import { templateRules } from './template-rules.ts';

const placesOf = (template: unknown): string[] =>
  (templateRules.safeParse(template).error?.issues ?? []).map(({ path }) => path.join('.'));

test.each([
  ['nothing at all', {}, []],
  [
    'fields of newer clusters',
    { spec: { schedulingGroup: { name: 'x' }, containers: [{ name: 'runner' }] } },
    [],
  ],
  ['a label with a space', { metadata: { labels: { a: 'b c' } } }, ['metadata.labels.a']],
  ['a node of no name', { spec: { nodeSelector: { zone: '-' } } }, ['spec.nodeSelector.zone']],
  [
    'a priority class of no name',
    { spec: { priorityClassName: 'High' } },
    ['spec.priorityClassName'],
  ],
  [
    'half a second',
    { spec: { terminationGracePeriodSeconds: 0.5 } },
    ['spec.terminationGracePeriodSeconds'],
  ],
  [
    'a tolerance of no effect',
    { spec: { tolerations: [{ key: 'gpu', operator: 'Exists', effect: 'Never' }] } },
    ['spec.tolerations.0.effect'],
  ],
  [
    'too much of nothing',
    { spec: { containers: [{ resources: { limits: { cpu: 'x' } } }] } },
    ['spec.containers.0.resources.limits.cpu'],
  ],
  [
    'the same at first',
    { spec: { initContainers: [{ resources: { limits: { cpu: 'x' } } }] } },
    ['spec.initContainers.0.resources.limits.cpu'],
  ],
])('a template with %s', (_, template, places) => {
  expect(placesOf(template)).toEqual(places);
});
