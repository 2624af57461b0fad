import { describe, expect, test } from '@jest/globals';
import { HELM, renderChart } from '@paddock/testing/render-chart';
import { CHART_SCHEMA } from '../../../tools/helm/chart-schema.ts';
import { APP, LEAST, POOL } from '../scenes/chart-releases.scene.ts';

const config = (more: object): object => ({ config: { ...LEAST.config, ...more } });
const app = (more: object): object => config({ github: { apps: [{ ...APP, ...more }] } });

/** Each with the place, and what the refusal says is there or is allowed. */
const MISTAKES: readonly (readonly [mistake: string, values: object, says: readonly string[]])[] = [
  [
    'an unknown key',
    { ingres: { replicas: 3 } },
    ["at ''", "additional properties 'ingres' not allowed"],
  ],
  [
    'a wrong setting',
    { settings: { PADDOCK_LOG_LEVEL: 'verbose' } },
    ["at '/settings/PADDOCK_LOG_LEVEL'", "one of 'error', 'warn', 'info', 'debug'"],
  ],
  [
    'one port for the webhook and for health',
    { settings: { PADDOCK_PUBLIC_PORT: 8083 } },
    ['settings.PADDOCK_HEALTH_PORT: 8083', 'PADDOCK_PUBLIC_PORT'],
  ],
  [
    'one port for the page and for health',
    { settings: { PADDOCK_PUBLIC_PORT: 8085 } },
    ['settings.PADDOCK_HEALTH_PORT: 8085', 'PADDOCK_PUBLIC_PORT'],
  ],
  [
    'one App twice',
    config({ github: { apps: [APP, APP] } }),
    ['config.github.apps[1].id: 7', 'config.github.apps[0]', 'each App once'],
  ],
  [
    'an App without a webhook secret',
    app({ webhookSecret: undefined }),
    ['config.github.apps[0].webhookSecret: it is missing', '{ file: PATH }'],
  ],
  [
    'a secret itself, not its place',
    app({ webhookSecret: 'hush' }),
    ["at '/config/github/apps/0/webhookSecret'", 'got string, want object'],
  ],
  [
    'a key in a file, and no Secret',
    { credentials: { webhook: { existingSecret: 'paddock-github' } } },
    [
      'config.github.apps[0].privateKey.file: it is /etc/paddock/app/private-key.pem',
      'credentials.app.existingSecret',
    ],
  ],
  [
    'a file outside the mounted folders',
    app({ webhookSecret: { file: '/secrets/webhook' } }),
    ['apps[0].webhookSecret.file: it is /secrets/webhook', '/etc/paddock/webhook/KEY'],
  ],
  [
    'a variable that no container has',
    app({ webhookSecret: { env: 'WEBHOOK_SECRET' } }),
    ['apps[0].webhookSecret.env: it is WEBHOOK_SECRET', 'env or ingress.env'],
  ],
  [
    'two pools of one name',
    config({ pools: [POOL, POOL] }),
    ['config.pools[1].name: linux', 'config.pools[0]', 'each name once'],
  ],
  [
    'a GitHub without TLS',
    config({ github: { apps: [APP], apiUrl: 'http://github.example.com/api/v3' } }),
    [
      'config.github.apiUrl: it is http://github.example.com/api/v3',
      'https://…, or allowPlainHttp',
    ],
  ],
  [
    'no database',
    { database: {} },
    ['database.existingSecret.name: it is empty', 'database.logins, or evaluation.enabled'],
  ],
  [
    'a login for some services alone',
    { database: { logins: { ingress: { name: 'a' }, scheduler: { name: 'b' } } } },
    ['database.existingSecret.name: it is empty', 'reconciler, console, migrate has no DSN'],
  ],
  [
    'two databases',
    { evaluation: { enabled: true } },
    ['database.existingSecret.name: it is paddock-database', 'one of both'],
  ],
  [
    'a hook that waits for the database of its own release',
    { database: {}, evaluation: { enabled: true }, migration: { hook: true } },
    ['migration.hook: it is true', 'allowed: false'],
  ],
  [
    'a variable of the chart in env',
    { scheduler: { env: [{ name: 'DATABASE_URL', value: 'x' }] } },
    ['scheduler.env: it has DATABASE_URL', 'database.existingSecret or database.logins'],
  ],
  [
    'an Ingress without a host',
    { webhook: { ingress: { enabled: true } } },
    ['webhook.ingress.host: it is empty', 'the name by which GitHub reaches the webhook'],
  ],
  [
    'a prefix with a slash at its end',
    { settings: { PADDOCK_CONSOLE_PATH_PREFIX: '/paddock/' } },
    ['settings.PADDOCK_CONSOLE_PATH_PREFIX: it is /paddock/', 'such as /paddock'],
  ],
  [
    'people who may sign in to the console, of no group, and by a secret that is not there',
    {
      console: {
        signIn: {
          groups: {},
          oidc: {
            url: 'https://paddock.example',
            issuer: 'https://id.example',
            clientId: 'paddock',
            clientSecret: { file: '/etc/paddock/signIn/secret' },
          },
        },
      },
    },
    [
      'console.signIn.groups: it names no group',
      'console.signIn.oidc.clientSecret.file: it is /etc/paddock/signIn/secret, which console does not mount',
    ],
  ],
  [
    'an Ingress of the console without a host',
    { console: { ingress: { enabled: true } } },
    ['console.ingress.host: it is empty', 'the name by which people reach the console'],
  ],
  [
    'a route without hostnames and Gateways',
    { webhook: { gateway: { enabled: true } } },
    ['webhook.gateway.hostnames: it is empty', 'webhook.gateway.parentRefs: it is empty'],
  ],
  [
    'more replicas at least than at most',
    { ingress: { autoscaling: { enabled: true, minReplicas: 9 } } },
    ['ingress.autoscaling.minReplicas: it is 9', 'at most maxReplicas, which is 6'],
  ],
  [
    'autoscaling by nothing',
    { ingress: { autoscaling: { enabled: true }, resources: { requests: { cpu: null } } } },
    ['ingress.resources.requests.cpu: it is empty', 'such as 100m'],
  ],
  [
    'two certificate authorities',
    { database: { ...LEAST.database, certificateAuthority: { configMap: 'a', secret: 'b' } } },
    ['database.certificateAuthority: configMap is a and secret is b', 'one of both'],
  ],
  [
    'a name that no object can have',
    { fullnameOverride: 'Paddock_1' },
    ["at '/fullnameOverride'", "'Paddock_1' does not match pattern"],
  ],
];

const described = HELM === undefined ? describe.skip : describe;

described('helm refuses, with the place and what is allowed (H1; needs helm)', () => {
  test.each(MISTAKES)('%s', (_mistake, values, says) => {
    let refusal = '';
    try {
      renderChart({ release: 'paddock', namespace: 'paddock', set: { ...LEAST, ...values } });
    } catch (error) {
      refusal = String(error);
    }
    for (const text of says) expect(refusal).toContain(text);
  });

  test('a release whose name no Service can have', () => {
    expect(() => renderChart({ release: '1st.one', namespace: 'paddock', set: LEAST })).toThrow(
      "the release's name: it is 1st.one",
    );
  });

  test('all mistakes at once', () => {
    const set = { ...LEAST, database: {}, webhook: { ingress: { enabled: true } } };
    expect(() => renderChart({ release: 'paddock', namespace: 'paddock', set })).toThrow(
      /database\.existingSecret\.name: .*\n- webhook\.ingress\.host: /,
    );
  });
});

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** A place of the values that is a map of keys known by name. */
interface Place {
  /** As Helm writes it: `/config/pools/0`. */
  readonly at: string;
  readonly keys: readonly string[];
  readonly isStrict: boolean;
}

const SCHEMA = CHART_SCHEMA as Schema;

/** The key of a map whose keys are the operator's own, as accounts. */
const OWN = 'acme';

const mapsOf = (schema: Schema): Schema => schema.anyOf?.find(holdsKeys) ?? schema;
const holdsKeys = ({ properties, additionalProperties, items }: Schema): boolean =>
  properties !== undefined || typeof additionalProperties === 'object' || items !== undefined;

/** The parts of a map or a list, by their keys in values. */
function partsOf({ properties, additionalProperties, items }: Schema): [string, Schema][] {
  if (properties !== undefined) return Object.entries(properties);
  if (items !== undefined) return [['0', items]];
  return additionalProperties ? [[OWN, additionalProperties]] : [];
}

const placesOf = (given: Schema, at = ''): Place[] => {
  const schema = mapsOf(given);
  const keys = Object.keys(schema.properties ?? {});
  const isStrict = schema.additionalProperties === false;
  return [
    ...(keys.length > 0 ? [{ at, keys, isStrict }] : []),
    ...partsOf(schema).flatMap(([key, part]) => placesOf(part, `${at}/${key}`)),
  ];
};

/** What Kubernetes defines, and Kubernetes checks: pods' templates are free below these. */
const FREE = /^\/config\/pools\/0\/template\/spec(\/|$)/;

test('each map of the values knows its keys, but for what Kubernetes defines (H1)', () => {
  const loose = placesOf(SCHEMA).filter(({ at, isStrict }) => !isStrict && !FREE.test(at));
  expect(loose).toEqual([]);
});

described('helm refuses an unknown key, and says which keys there are (H1; needs helm)', () => {
  test.each<[at: string, set: object]>([
    ['/ingress', { ingress: { colour: 'red' } }],
    ['/console/signIn/oidc', { console: { signIn: { oidc: { colour: 'red' } } } }],
    ['/config/pools/0', config({ pools: [{ ...POOL, colour: 'red' }] })],
    ['/config/entities/acme', config({ entities: { acme: { colour: 'red' } } })],
  ])('at %s', (at, values) => {
    const keys = placesOf(SCHEMA)
      .find((place) => place.at === at)
      ?.keys.toSorted()
      .join(', ');
    const render = () =>
      renderChart({ release: 'paddock', namespace: 'paddock', set: { ...LEAST, ...values } });
    expect(render).toThrow(`at '${at}': additional properties 'colour' not allowed`);
    expect(render).toThrow(`at '${at}': value must be 'a map with no other keys than ${keys}'`);
  });

  test('but none in `global`, which is of the chart above', () => {
    const set = { ...LEAST, global: { imageRegistry: 'registry.example.com', colour: {} } };
    expect(renderChart({ release: 'paddock', namespace: 'paddock', set })).not.toEqual([]);
  });
});
