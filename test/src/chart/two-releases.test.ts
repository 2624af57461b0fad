import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  type ChartObject,
  HELM,
  type Labels,
  podsOf,
  type Release,
  renderChart,
} from '@paddock/testing/render-chart';
import { LEAST } from '../scenes/chart-releases.scene.ts';

const named = (release: string, namespace: string): Release => ({
  release,
  namespace,
  set: {
    ...LEAST,
    database: {},
    evaluation: { enabled: true, password: 'x' },
    ingress: { autoscaling: { enabled: true } },
    webhook: { ingress: { enabled: true, host: 'paddock.test' } },
  },
});

const LONG = 'e'.repeat(52);

const described = HELM === undefined ? describe.skip : describe;

// All share the namespace of their runners.
described.each<[string, Release, Release]>([
  ['in one namespace', named('paddock', 'ci'), named('blue', 'ci')],
  ['in one namespace, of long names', named(`${LONG}a`, 'ci'), named(`${LONG}b`, 'ci')],
  ['of one name in two namespaces', named('paddock', 'a'), named('paddock', 'b')],
  [
    'whose names and namespaces join alike',
    named('paddock', 'ci-paddock'),
    named('paddock-ci', 'paddock'),
  ],
])('two releases %s (A8; needs helm)', (_name, one, other) => {
  let first: readonly ChartObject[];
  let second: readonly ChartObject[];
  beforeAll(() => {
    first = renderChart(one);
    second = renderChart(other);
  });

  test('have no object in common', () => {
    expect([...places(first).intersection(places(second))]).toEqual([]);
  });

  test('select none of each other’s pods', () => {
    for (const [mine, others] of [
      [first, second],
      [second, first],
    ] as const) {
      for (const { kind, metadata, spec } of mine) {
        if (spec?.selector === undefined && spec?.podSelector === undefined) continue;
        const selector =
          kind === 'Service' ? spec.selector : (spec.selector ?? spec.podSelector)?.matchLabels;
        const found = podsIn(others, metadata.namespace ?? '').filter((labels) =>
          Object.entries(selector ?? {}).every(([key, value]) => labels[key] === value),
        );
        expect([kind, metadata.name, found]).toEqual([kind, metadata.name, []]);
      }
    }
  });
});

const places = (objects: readonly ChartObject[]): Set<string> =>
  new Set(objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`));

/** The labels of a release's pods in a namespace, with those of its runners. */
function podsIn(objects: readonly ChartObject[], namespace: string): Labels[] {
  const own = objects.filter(({ metadata }) => metadata.namespace === namespace);
  const runners = own.filter(
    ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.namespace === 'runners',
  );
  return [
    ...podsOf(own).map(({ metadata }) => metadata.labels),
    ...runners.map(({ spec }) => spec?.podSelector?.matchLabels ?? {}),
  ];
}
