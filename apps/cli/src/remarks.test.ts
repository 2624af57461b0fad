import { describe, expect, test } from '@jest/globals';
import { configFile } from '@paddock/domain/pools/config-file';
import { remarksOn } from './remarks.ts';

const POOL = { name: 'a', labels: ['x'], image: 'own:1', namespace: 'n' };
const remarks = (pool: object, entities: object = { '*': {} }) =>
  remarksOn(configFile.parse({ github: { apps: [{ id: 1 }] }, pools: [{ ...POOL, ...pool }], entities }));
const inTemplate = (spec: object, metadata?: object) => ({ template: { spec, metadata } });

describe('what can be used and is hardly meant', () => {
  test.each<[object, string]>([
    [
      inTemplate({ containers: [{ name: 'Runner' }, { name: 'cache' }] }),
      'a has no container named runner in its template: Runner, cache will',
    ],
    [{ labels: ['x,y'] }, 'a has the label "x,y"'],
    [{ labels: ['x '] }, 'a has the label "x "'],
    [inTemplate({ containers: [{ name: 'runner', image: 'other:1' }] }), 'a uses its own image own:1, not other:1'],
    [{ paused: true }, 'a is switched off'],
    [inTemplate({ nodeSelector: { gpu: true } }), 'a: template.spec.nodeSelector.gpu must be text, and is true or false'],
    [inTemplate({ nodeSelector: ['gpu'] }), 'a: template.spec.nodeSelector must be a mapping, and is a list'],
    [inTemplate({ tolerations: [{ key: 'spot', operator: 'exists' }] }), 'a: template.spec.tolerations.0.operator must be Exists or Equal'],
    [
      inTemplate({ containers: [{ name: 'runner', resources: { limits: { memory: '16GB' } } }] }),
      'a: template.spec.containers.0.resources.limits.memory must be a quantity',
    ],
    [
      inTemplate({ initContainers: [{ name: 'b', resources: { requests: { 'nvidia.com/gpu': 1 } } }] }),
      'a: template.spec.initContainers.0.resources.requests.nvidia.com/gpu needs the same amount in limits',
    ],
    [inTemplate({}, { labels: { 'two words': 'x' } }), "a: template.metadata.labels.two words must be a label's key"],
  ])('%j: %s', (pool, remark) => {
    expect(remarks(pool)).toEqual([expect.stringContaining(remark)]);
  });

  test.each<object>([
    {},
    { labels: ['Two Words'] },
    { containerMode: 'dind', ...inTemplate({ containers: [{ name: 'dind', image: 'd' }] }) },
    inTemplate({
      nodeSelector: null,
      tolerations: null,
      containers: [{ name: 'runner', resources: { limits: null, claims: [{ name: 'c' }] } }],
    }),
    inTemplate({ tolerations: [{ key: 'a', operator: 'Exists', newer: 1 }], anything: { new: 1 } }),
  ])('%j needs none', (pool) => {
    expect(remarks(pool)).toEqual([]);
  });

  test('accounts are told by login', () => {
    expect(remarks({}, { 'acme/api': {}, mona_acme: {}, 'a-1': {} })).toEqual([expect.stringContaining("acme/api, which is no account's")]);
    expect(remarks({}, {})).toEqual([expect.stringContaining("nobody's jobs are served")]);
  });
});
