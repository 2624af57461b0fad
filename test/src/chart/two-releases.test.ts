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
    console: { ingress: { enabled: true, host: 'console.test' } },
  },
});

const LONG = 'e'.repeat(52);

const described = HELM === undefined ? describe.skip : describe;

// All share the namespace of their runners.
described.each<[string, readonly Release[]]>([
  ['in one namespace', [named('paddock', 'ci'), named('blue', 'ci')]],
  [
    'in one namespace, named as the objects of each other',
    [
      'paddock',
      'a',
      'a-paddock',
      'a-paddock-webhook',
      'paddock-ingress',
      'paddock-console',
      'paddock-ci',
    ].map((release) => named(release, 'ci')),
  ],
  ['in one namespace, of long names', [named(`${LONG}a`, 'ci'), named(`${LONG}b`, 'ci')]],
  ['of one name in two namespaces', [named('paddock', 'a'), named('paddock', 'b')]],
  [
    'whose names and namespaces join alike',
    [named('paddock', 'ci-paddock'), named('paddock-ci', 'paddock')],
  ],
])('releases %s (A8; needs helm)', (_name, releases) => {
  let rendered: readonly (readonly ChartObject[])[];
  beforeAll(() => {
    rendered = releases.map((release) => renderChart(release));
  });

  test('have no object in common', () => {
    const all = rendered.flatMap(places);
    expect(all.filter((place, index) => all.indexOf(place) !== index)).toEqual([]);
  });

  test('select none of each other’s pods', () => {
    for (const mine of rendered) {
      const theirs = rendered.filter((objects) => objects !== mine).flat();
      for (const { kind, metadata, spec } of mine) {
        if (spec?.selector === undefined && spec?.podSelector === undefined) continue;
        const selector =
          kind === 'Service' ? spec.selector : (spec.selector ?? spec.podSelector)?.matchLabels;
        const found = podsIn(theirs, metadata.namespace ?? '').filter((labels) =>
          Object.entries(selector ?? {}).every(([key, value]) => labels[key] === value),
        );
        expect([kind, metadata.name, found]).toEqual([kind, metadata.name, []]);
      }
    }
  });
});

const places = (objects: readonly ChartObject[]): string[] =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`);

/** The labels of releases' pods in a namespace, with those of their runners. */
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
