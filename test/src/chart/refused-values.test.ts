import { describe, expect, test } from '@jest/globals';
import { CHART, HELM, renderChart, runHelm } from '@paddock/testing/render-chart';
import { CHART_SCHEMA } from '../../../tools/helm/chart-schema.ts';
import { fileWith, REFUSED_FILES, TAKEN_POOLS } from '@paddock/domain/scenes/refused-files.scene';
import { APP, LEAST, POOL, SIGN_IN } from '../scenes/chart-releases.scene.ts';

const described = HELM === undefined ? describe.skip : describe;

/** What helm says of these values. */
function refusalOf(set: object, release = 'paddock'): string {
  try {
    renderChart({ release, namespace: 'paddock', set: { ...LEAST, ...set } });
    return '';
  } catch (error) {
    return String(error);
  }
}

/** The places, and what is there; what is allowed there follows each. */
const complaintsAbout = (set: object, release?: string): string[] =>
  refusalOf(set, release)
    .matchAll(/^- (.*?)(?:, (?:which|so|and|a) .*| is the .*)?; allowed: .+/gm)
    .map(([, complaint = '']) => complaint)
    .toArray();

const signIn = { ...SIGN_IN, groups: {} };

described('helm refuses, with the place and what is allowed (H1; needs helm)', () => {
  test('no missing webhook secret where no ingress runs', () => {
    const { webhookSecret: _unread, ...app } = APP;
    const config = { ...LEAST.config, github: { intake: 'log', apps: [app] } };
    expect(complaintsAbout({ config })).toEqual([
      'config.github.apps[0].webhookSecret: it is missing',
    ]);
    const ingress = { replicas: 0 };
    expect(refusalOf({ config, ingress })).toBe('');
    expect(complaintsAbout({ ingress })).toEqual(['ingress.replicas: it is 0']);
  });

  test('values that contradict each other, all at once', () => {
    const apps = [
      { ...APP, webhookSecret: { file: '/secrets/webhook' } },
      { ...APP, webhookSecret: { env: 'WEBHOOK_SECRET' } },
    ];
    const found = complaintsAbout({
      config: {
        github: { apps, apiUrl: 'http://github.example.com/api/v3' },
        pools: [POOL, { ...POOL, labels: ['LINUX'], repositories: ['acme/*'] }],
        entities: { acme: {}, Acme: { commonWeight: 2 } },
      },
      image: { migrate: { repository: 'registry.test/migrate' } },
      commonLabels: { 'app.kubernetes.io/name': 'ci' },
      settings: { PADDOCK_PUBLIC_PORT: 8083 },
      database: {
        logins: { ingress: { name: 'a' }, scheduler: { name: 'b' } },
        certificateAuthority: { configMap: 'a', secret: 'b' },
      },
      scheduler: { env: [{ name: 'DATABASE_URL', value: 'x' }] },
      webhook: { ingress: { enabled: true }, gateway: { enabled: true } },
      ingress: {
        autoscaling: { enabled: true, minReplicas: 9 },
        resources: { requests: { cpu: null } },
      },
      console: { ingress: { enabled: true }, signIn },
    });
    expect(found).toEqual([
      'commonLabels: it has app.kubernetes.io/name',
      'image.registry: it is empty',
      'config.github.apps[0].webhookSecret.file: it is /secrets/webhook',
      'config.github.apps[1].id: 7',
      'config.github.apps[1].webhookSecret.env: it is WEBHOOK_SECRET',
      'config.github.apiUrl: it is http://github.example.com/api/v3',
      'config.pools[1].name: linux',
      'config.pools[1].repositories: GitHub gives any job of an organisation any runner of its default group',
      'config.entities: Acme has commonWeight',
      'config.entities: acme is there twice',
      'database.existingSecret.name: it is empty',
      'database.certificateAuthority: configMap is a and secret is b',
      'scheduler.env: it has DATABASE_URL',
      'settings.PADDOCK_HEALTH_PORT: 8083',
      'ingress.autoscaling.minReplicas: it is 9',
      'ingress.resources.requests.cpu: it is empty',
      'webhook.ingress.host: it is empty',
      'webhook.gateway.hostnames: it is empty',
      'webhook.gateway.parentRefs: it is empty',
      'console.signIn.groups: it names no group',
      'console.signIn.oidc.clientSecret.file: it is /etc/paddock/signIn/secret',
      'console.ingress.host: it is empty',
    ]);
  });

  test('others, and the name of a release that no Service can have', () => {
    const found = complaintsAbout(
      {
        config: {
          ...LEAST.config,
          github: {
            apps: [
              { ...APP, webhookSecret: undefined },
              { ...APP, id: 8, previousWebhookSecret: { env: 'OLD' } },
              { ...APP, id: 9, webhookSecret: { env: 'OLD' } },
            ],
          },
        },
        ingress: { env: [{ name: 'OLD', value: 'hush' }] },
        credentials: { webhook: { existingSecret: 'paddock-github' } },
        evaluation: { enabled: true },
        migration: { hook: true },
        settings: { PADDOCK_PUBLIC_PORT: 8085 },
      },
      '1st.one',
    );
    const file = '/etc/paddock/app/private-key.pem';
    expect(found).toEqual([
      "the release's name: it is 1st.one",
      `config.github.apps[0].privateKey.file: it is ${file}`,
      `config.github.apps[0].privateKey.file: it is ${file}`,
      'config.github.apps[0].webhookSecret: it is missing',
      `config.github.apps[1].privateKey.file: it is ${file}`,
      `config.github.apps[1].privateKey.file: it is ${file}`,
      'config.github.apps[2].webhookSecret: it is {"env":"OLD"}',
      `config.github.apps[2].privateKey.file: it is ${file}`,
      `config.github.apps[2].privateKey.file: it is ${file}`,
      'database.existingSecret.name: it is paddock-database',
      'migration.hook: it is true',
      'settings.PADDOCK_HEALTH_PORT: 8085',
    ]);
  });

  test('to install without an App, which `helm lint` allows', () => {
    const empty = { config: { github: { apps: [] }, pools: [], entities: {} } };
    expect(complaintsAbout(empty)).toEqual(['config.github.apps: it is empty']);
    expect(runHelm(['lint', '--strict', CHART])).toContain('0 chart(s) failed');
  });

  test('what the schema of the values does not allow', () => {
    const refusal = refusalOf({
      ingres: { replicas: 3 },
      fullnameOverride: 'Paddock_1',
      settings: {
        PADDOCK_LOG_LEVEL: 'verbose',
        PADDOCK_SCHEMA: 'Paddock',
        PADDOCK_CONSOLE_PATH_PREFIX: '/paddock/',
        PADDOCK_INGRESS_POOL_SIZE: 5,
      },
      config: {
        ...LEAST.config,
        github: { apps: [{ ...APP, webhookSecret: 'hush' }] },
        pools: [{ ...POOL, colour: 'red' }],
      },
    });
    for (const text of [
      "at '': additional properties 'ingres' not allowed",
      "at '/fullnameOverride': 'Paddock_1' does not match pattern",
      "at '/settings/PADDOCK_LOG_LEVEL': value must be one of 'error', 'warn', 'info', 'debug'",
      "at '/settings/PADDOCK_SCHEMA': 'Paddock' does not match pattern",
      "at '/settings/PADDOCK_CONSOLE_PATH_PREFIX': '/paddock/' does not match pattern",
      "at '/settings/PADDOCK_INGRESS_POOL_SIZE': minimum: got 5, want 6",
      "at '/config/github/apps/0/webhookSecret': got string, want object",
      "at '/config/pools/0': additional properties 'colour' not allowed",
    ])
      expect(refusal).toContain(text);
  });

  test('but no key in `global`, which is of the chart above', () => {
    expect(refusalOf({ global: { imageRegistry: 'registry.example.com', colour: {} } })).toBe('');
  });
});

/** Values with the file's differences, and with Apps that the services can read. */
const valuesWith = (given: object): object => {
  const { github, ...rest } = fileWith(given) as { github: { apps: object[] } };
  const apps = github.apps.map((app) => ({ ...APP, ...app }));
  return { config: { ...rest, github: { ...github, apps } } };
};

described('what the file refuses, and by the same rules (H1; needs helm)', () => {
  test.each(REFUSED_FILES)('the chart refuses %j: %s', (given, problem) => {
    const refusal = refusalOf(valuesWith(given));
    expect(refusal).toMatch(/; allowed: |at '\/config/);
    const [place = ''] = problem.split(': ');
    for (const key of place.split('.').filter((step) => !/^\d+$/.test(step)))
      expect(refusal).toContain(key);
  });

  test.each(TAKEN_POOLS)('the chart takes a pool with %j, as the services do', (pool) => {
    expect(refusalOf(valuesWith({ pools: [pool] }))).toBe('');
  });
});

/** What Kubernetes defines, and Kubernetes checks: pods' templates are free below these. */
const FREE = /\/pools\/items\/.*\/template\/.*\/spec(\/|$)/;

interface Schema {
  readonly properties?: object;
  readonly additionalProperties?: unknown;
}

/** The maps of a JSON Schema that name keys and take others too. */
const looseMaps = (schema: Schema, at = ''): string[] => [
  ...(Object.keys(schema.properties ?? {}).length > 0 && schema.additionalProperties !== false
    ? [at]
    : []),
  ...Object.entries(schema).flatMap(([key, part]: [string, unknown]) =>
    typeof part === 'object' && part !== null ? looseMaps(part, `${at}/${key}`) : [],
  ),
];

test('each map of the values knows its keys, but for what Kubernetes defines (H1)', () => {
  const loose = looseMaps(CHART_SCHEMA);
  expect(loose).not.toEqual([]);
  expect(loose.filter((at) => !FREE.test(at))).toEqual([]);
});
