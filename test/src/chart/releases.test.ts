import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { settings as ofConsole } from '@paddock/console/settings';
import { settings as ingress } from '@paddock/ingress/settings';
import { settings as reconciler } from '@paddock/reconciler/settings';
import { settings as scheduler } from '@paddock/scheduler/settings';
import {
  CHART,
  type ChartObject,
  HELM,
  type Labels,
  type Release,
  podsOf,
  renderChart,
  renderNotes,
} from '@paddock/testing/render-chart';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { APP, HOOKED, LEAST, POOL, configOf } from '../scenes/chart-releases.scene.ts';

const named = { release: 'paddock', namespace: 'paddock' };
const release = (set: object): Release => ({ ...named, set: { ...LEAST, ...set } });

/** What a change of it restarts: the pods of the Deployments. */
const restarted = (objects: readonly ChartObject[]) =>
  podsOf(objects.filter(({ kind }) => kind === 'Deployment'));

const jobOf = (objects: readonly ChartObject[]): ChartObject => {
  const job = objects.find(({ kind }) => kind === 'Job');
  if (job === undefined) throw new Error('There is no Job.');
  return job;
};

const MIGRATES = { restarts: false, migrates: true };

const described = HELM === undefined ? describe.skip : describe;

described('a change (needs helm)', () => {
  let folder: string;
  let before: readonly ChartObject[];
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'paddock-chart-'));
    before = renderChart(release({}));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The chart with other lines in its Chart.yaml. */
  const chartOf = (name: string, change: (text: string) => string): string => {
    const chart = join(folder, name);
    cpSync(CHART, chart, { recursive: true });
    const file = join(chart, 'Chart.yaml');
    writeFileSync(file, change(readFileSync(file, 'utf8')));
    return chart;
  };

  /** Whether the services restart, and whether another Job runs, for a Job cannot be changed. */
  const effectOf = (after: readonly ChartObject[]) => ({
    restarts: !isDeepStrictEqual(restarted(after), restarted(before)),
    migrates: jobOf(after).metadata.name !== jobOf(before).metadata.name,
  });

  test.each<[of: string, set: object, effect: ReturnType<typeof effectOf>]>([
    [
      'the configuration (H5)',
      { config: { ...LEAST.config, pools: [{ ...POOL, maxWorkers: 50 }], entities: {} } },
      { restarts: false, migrates: false },
    ],
    [
      'GitHub’s address',
      { config: { ...LEAST.config, github: { apps: [APP], apiUrl: 'https://ghes.test/api/v3' } } },
      { restarts: false, migrates: false },
    ],
    [
      'the files of secrets that an App names: these are mounted alone (H5)',
      {
        config: {
          ...LEAST.config,
          github: { apps: [{ ...APP, privateKey: { file: '/etc/paddock/app/other.pem' } }] },
        },
      },
      { restarts: true, migrates: false },
    ],
    ['the migrator’s image', { image: { ...LEAST.image, migrate: { tag: '9' } } }, MIGRATES],
    ['the Job’s place', { migration: { nodeSelector: { disk: 'fast' } } }, MIGRATES],
    ['the schema', { settings: { PADDOCK_SCHEMA: 'other' } }, { ...MIGRATES, restarts: true }],
  ])('of %s (A10)', (_of, set, effect) => {
    const after = renderChart(release(set));
    expect(after).not.toEqual(before);
    expect(effectOf(after)).toEqual(effect);
  });

  test.each([
    ['program’s version', 'appVersion', true],
    ['chart’s own version alone', 'version', false],
  ])('of the %s (A10)', (_of, key, isNew) => {
    const chart = chartOf(key, (text) =>
      text.replace(new RegExp(`^${key}: .*`, 'm'), `${key}: 9.9.9`),
    );
    const after = renderChart({ ...release({}), chart });
    expect(effectOf(after)).toEqual({ restarts: isNew, migrates: isNew });
    // A Job cannot be changed.
    expect(isNew || isDeepStrictEqual(jobOf(after).spec, jobOf(before).spec)).toBe(true);
  });
});

/** Connections of each service beside its pool, as docs/network.md lists them. */
const BESIDE = { ingress: 0, scheduler: 2, reconciler: 2, console: 0, migrate: 2 };

type Service = 'ingress' | 'console' | 'scheduler' | 'reconciler';

const sizes: Readonly<Record<Service, number | undefined>> = {
  ingress: ingress.poolSize.default,
  console: ofConsole.poolSize.default,
  scheduler: scheduler.poolSize.default,
  reconciler: reconciler.poolSize.default,
};

/** Of replicas, two unless given, and of so many more of each service. */
const connections = (
  given: Partial<typeof sizes>,
  pools: Partial<typeof sizes> = {},
  more = 1,
): number =>
  (['ingress', 'scheduler', 'reconciler', 'console'] as const).reduce(
    (sum, service) =>
      sum +
      ((given[service] ?? 2) + more) * ((pools[service] ?? sizes[service] ?? 0) + BESIDE[service]),
    BESIDE.migrate,
  );

const OTHERS = { ingress: 9, scheduler: 1, reconciler: 3 };
const POOLS = { ingress: 20, scheduler: 64 };

described('NOTES say how many connections there are at most (A11; needs helm)', () => {
  test.each<[string, object, number, number]>([
    ['by default', {}, 60, connections({})],
    // Not even one more of the console during an upgrade.
    [
      'with other replicas and pools, of ingress as many as may be, and without the console',
      {
        ingress: { autoscaling: { enabled: true, maxReplicas: 9 } },
        scheduler: { replicas: 1 },
        reconciler: { replicas: 3 },
        console: { enabled: false },
        settings: { PADDOCK_INGRESS_POOL_SIZE: 20, PADDOCK_SCHEDULER_POOL_SIZE: 64 },
      },
      connections({ ...OTHERS, console: 0 }, POOLS, 0),
      connections({ ...OTHERS, console: -1 }, POOLS),
    ],
  ])('%s', (_name, set, held, upgraded) => {
    const notes = renderNotes(release(set));
    expect(notes).toContain(`holds at most ${held} connections of PostgreSQL`);
    expect(notes).toContain(`one more replica of each service, at most ${upgraded}.`);
  });

  test('and the database for a first look allows them', () => {
    const objects = renderChart(
      release({ database: {}, evaluation: { enabled: true }, scheduler: { replicas: 9 } }),
    );
    const [database] = podsOf(objects.filter(({ kind }) => kind === 'StatefulSet'));
    const [, most = 0] =
      /max_connections=(\d+)/.exec(JSON.stringify(database?.spec.containers[0])) ?? [];
    expect(Number(most)).toBeGreaterThan(connections({ scheduler: 9 }));
  });
});

const releaseNamed = (name: string, namespace: string): Release => ({
  release: name,
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

const SIMILAR = [`${LONG}a`, `${LONG}b`, 'a', 'a-paddock', 'a-paddock-webhook', 'paddock-console'];

// All share the namespace of their runners.
described.each<[string, ...(readonly [release: string, namespace: string])[]]>([
  [
    'in one namespace, of long names, or named as the objects of each other',
    ...SIMILAR.map((name) => [name, 'ci'] as const),
  ],
  ['of one name in two namespaces', ['paddock', 'a'], ['paddock', 'b']],
  ['whose names and namespaces join alike', ['paddock', 'ci-paddock'], ['paddock-ci', 'paddock']],
])('releases %s (A8; needs helm)', (_name, ...releases) => {
  let rendered: readonly (readonly ChartObject[])[];
  beforeAll(() => {
    rendered = releases.map((names) => renderChart(releaseNamed(...names)));
  });

  test('have no object in common', () => {
    const all = rendered
      .flat()
      .map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`);
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

/** The keys of the DSNs, by the programs that take them. */
const keysOf = (key: string) => {
  const objects = renderChart(
    release({ database: { existingSecret: { name: 'paddock-database', key } } }),
  );
  const programs = podsOf(objects.filter(({ kind }) => kind !== 'Pod'));
  return Object.fromEntries(
    programs.flatMap(({ spec }) =>
      spec.containers.map(({ name, env }) => {
        const dsn = env.find((one) => one.name === 'DATABASE_URL');
        return [name, dsn?.valueFrom?.secretKeyRef.key];
      }),
    ),
  );
};

described('what holds for all pods (needs helm)', () => {
  test('labels of all are on each object and pod; those of a pool on its pods alone (H1)', () => {
    const pools = [
      { ...POOL, template: { metadata: { labels: { team: 'ci' } } } },
      { ...POOL, name: 'other', labels: ['other'] },
    ];
    const cost = { 'example.com/cost': '7' };
    const objects = renderChart(
      release({
        commonLabels: { ...cost, team: 'all' },
        config: { ...LEAST.config, pools },
        database: {},
        evaluation: { enabled: true, password: 'x' },
      }),
    );
    for (const { kind, metadata } of [...objects, ...podsOf(objects).map(withKind)])
      expect([kind, metadata]).toEqual([
        kind,
        expect.objectContaining({ labels: expect.objectContaining(cost) }),
      ]);
    const written = parse(configOf(objects)) as { pools: { template: { metadata: object } }[] };
    const own = { 'app.kubernetes.io/part-of': 'paddock.paddock', ...cost };
    expect(written.pools.map(({ template }) => template.metadata)).toEqual([
      { labels: { ...own, team: 'ci' } },
      { labels: { ...own, team: 'all' } },
    ]);
  });

  test('each service has a login of its own, unless one key is given for all (H3)', () => {
    const names = ['console', 'ingress', 'migrate', 'reconciler', 'scheduler'];
    expect(keysOf('')).toEqual(Object.fromEntries(names.map((name) => [name, name])));
    expect(keysOf('uri')).toEqual(Object.fromEntries(names.map((name) => [name, 'uri'])));
  });
});

const withKind = ({ owner, metadata }: { owner: string; metadata: { labels: Labels } }) => ({
  kind: `pod of ${owner}`,
  metadata,
});

described('the egress policies (H3; needs helm)', () => {
  test('hold each service to what it calls', () => {
    const egress = { enabled: true, rules: [{ ports: [{ port: 3128 }] }] };
    const github = { apps: [APP], apiUrl: 'https://ghes.test:8443/api/v3' };
    const objects = renderChart(
      release({ config: { ...LEAST.config, github }, networkPolicy: { egress } }),
    );
    const policies = objects.filter(({ metadata }) => metadata.name.endsWith('-egress'));
    const all = [53, 53, 5353, 5353, 5432];
    const outside = [...all, 8443, 443, 6443, 3128];
    const rules = policies.map(({ spec }) => [
      spec?.podSelector?.matchLabels?.['app.kubernetes.io/component'],
      (spec as { egress: { ports: { port: number }[] }[] }).egress.flatMap(({ ports }) =>
        ports.map(({ port }) => port),
      ),
    ]);
    expect(Object.fromEntries(rules)).toEqual({
      ingress: all,
      migrate: all,
      reconciler: outside,
      scheduler: outside,
    });
  });
});

described(
  'a pool whose runners make pods, where their policy closes the API server (H3; needs helm)',
  () => {
    const hooked = {
      ...POOL,
      name: 'hooked',
      labels: ['hooked'],
      namespace: 'hooks',
      template: HOOKED,
    };
    const config = { ...LEAST.config, pools: [POOL, hooked] };
    test.each([
      ['is told of', {}, ['hooks']],
      ['needs no word once a way is open', { egress: [{ ports: [{ port: 6443 }] }] }, []],
      ['needs none without a policy', { enabled: false }, []],
    ])('%s', (_name, networkPolicy, expected) => {
      const notes = renderNotes(release({ config, runners: { networkPolicy } }));
      const told = [...notes.matchAll(/Runners in the namespace (\S+) make pods/g)];
      expect(told.map(([, namespace]) => namespace)).toEqual(expected);
    });
  },
);

const signIn = (issuer: string) => ({
  signIn: {
    groups: { read: ['*'] },
    oidc: { url: 'https://ci.test', issuer, clientId: 'paddock' },
  },
});

described('the policy of the console (H3; needs helm)', () => {
  test.each([
    ['https://login.example.com', 443],
    ['https://login.example.com:8443/realms/ci', 8443],
    ['https://10.1.2.3', 443],
    ['https://idp2', 443],
  ])('opens the port of the issuer %s', (issuer, port) => {
    const policy = renderChart(release({ console: signIn(issuer) })).find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'paddock-console',
    );
    const egress = policy?.spec?.['egress'] as object[] | undefined;
    expect(egress?.at(-1)).toEqual({ ports: [{ protocol: 'TCP', port }] });
  });

  test.each([
    [
      'opens the way to a proxy before its identity provider (H4)',
      signIn('https://login.example.com'),
      1,
    ],
    ['opens no way for others', {}, 0],
  ])('%s', (_name, console, open) => {
    const rule = { ports: [{ port: 3128 }] };
    const policy = renderChart(
      release({ console, networkPolicy: { egress: { rules: [rule] } } }),
    ).find(({ kind, metadata: { name } }) => `${kind} ${name}` === 'NetworkPolicy paddock-console');
    const egress = policy?.spec?.['egress'] as object[];
    expect(egress.filter((each) => isDeepStrictEqual(each, rule))).toHaveLength(open);
  });
});
