import { describe, expect, test } from '@jest/globals';
import type { PodTemplate } from '@paddock/domain/pools/pod-template';
import { parsedPool } from '@paddock/domain/scenes/pools-document.scene';
import { identityOf } from './labels.ts';
import { runnerPod, type RunnerPodSpec } from './runner-pod.ts';
import { unknownPodFields } from './unknown-fields.ts';

const worker: RunnerPodSpec = {
  name: 'pdk-abc123-1',
  namespace: 'runners',
  instance: 'abc123',
  pool: 'linux-large',
  image: 'ghcr.io/acme/runner:2',
  entityId: 42,
  scopeRepoId: 0,
  madeForJobId: 7_000_000_001,
  deliveryGuid: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
};
const JIT_CONFIG = {
  name: 'ACTIONS_RUNNER_INPUT_JITCONFIG',
  valueFrom: { secretKeyRef: { name: worker.name, key: 'jitconfig' } },
};
const DEPRECATION = { name: 'ACTIONS_RUNNER_RETURN_VERSION_DEPRECATED_EXIT_CODE', value: '1' };

const specOf = (more: Partial<RunnerPodSpec>) => {
  const { spec } = runnerPod({ ...worker, ...more });
  return { ...spec, runner: spec?.containers[0], initContainers: spec?.initContainers ?? [] };
};
/** A template with this runner's container. */
const ofRunner = (container: object): PodTemplate => ({
  spec: { containers: [{ name: 'runner', ...container }] },
});

describe('runnerPod', () => {
  test('without a template it is the whole pod', () => {
    expect(runnerPod(worker)).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'pdk-abc123-1',
        namespace: 'runners',
        labels: {
          'app.kubernetes.io/managed-by': 'paddock',
          'paddock.dev/instance': 'abc123',
          'paddock.dev/pool': 'linux-large',
          'paddock.dev/entity-id': '42',
          'paddock.dev/scope-repo-id': '0',
        },
        annotations: {
          'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
          'karpenter.sh/do-not-disrupt': 'true',
          'paddock.dev/delivery-guid': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
          'paddock.dev/made-for-job-id': '7000000001',
        },
      },
      spec: {
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        restartPolicy: 'Never',
        activeDeadlineSeconds: 7 * 86_400,
        initContainers: [],
        containers: [
          {
            name: 'runner',
            image: 'ghcr.io/acme/runner:2',
            command: ['/home/runner/run.sh'],
            env: [JIT_CONFIG, DEPRECATION],
            volumeMounts: [],
          },
        ],
        volumes: [],
      },
    });
  });

  test.each<[string, PodTemplate, object]>([
    ['another restart policy', { spec: { restartPolicy: 'Always' } }, { restartPolicy: 'Never' }],
    [
      'a deadline that a job can reach (P2)',
      { spec: { activeDeadlineSeconds: 3600 } },
      { activeDeadlineSeconds: 540_000 },
    ],
    [
      'a JIT config of its own',
      ofRunner({ env: [{ name: JIT_CONFIG.name, value: 'x' }] }),
      { runner: { env: [JIT_CONFIG, DEPRECATION] } },
    ],
    ['an image', ofRunner({ image: 'elsewhere' }), { runner: { image: worker.image } }],
  ])('a template cannot bring %s (H3)', (_what, template, expected) => {
    expect(specOf({ template })).toMatchObject(expected);
  });

  test('a template cannot bring our labels (H3)', () => {
    const template = { metadata: { labels: { 'paddock.dev/instance': 'other' } } };
    expect(runnerPod({ ...worker, template }).metadata).toEqual(runnerPod(worker).metadata);
  });

  test('a runner’s container that would start again does not (H3)', () => {
    const restartPolicyRules = [{ action: 'Restart' }];
    const again = ofRunner({ restartPolicy: 'Always', restartPolicyRules });
    expect(specOf({ template: again })).toEqual(specOf({ template: ofRunner({}) }));
  });

  test.each<[string, PodTemplate]>([
    ['a longer deadline', { spec: { activeDeadlineSeconds: 900_000 } }],
    ['a token', { spec: { serviceAccountName: 'hooks', automountServiceAccountToken: true } }],
    ['fields that no library knows yet', { spec: { somethingNew: { deep: [1] } } }],
    [
      'command and resources of the runner',
      ofRunner({ command: ['/start'], resources: { limits: { 'nvidia.com/gpu': 1 } } }),
    ],
    [
      'labels, and its word on eviction',
      {
        metadata: {
          labels: { team: 'a' },
          annotations: { 'karpenter.sh/do-not-disrupt': 'false' },
        },
      },
    ],
  ])('a template may bring %s (H3)', (_what, template) => {
    expect(runnerPod({ ...worker, template })).toMatchObject(template);
  });

  test.each([
    ['one of its own, even twice', [1, 2].map((value) => ({ name: 'A', value: `${value}` }))],
    ['one that we would set', [{ ...DEPRECATION, value: '0' }]],
  ])('a template may bring variables: %s (H3)', (_what, env) => {
    const others = env[0]?.name === 'A' ? [DEPRECATION] : [];
    const { runner } = specOf({ template: ofRunner({ env }) });
    expect(runner?.env).toEqual([JIT_CONFIG, ...others, ...env]);
  });

  test('a template’s container beside the runner is a sidecar, so that the pod ends with the runner (H3)', () => {
    const cache = { name: 'cache', image: 'cache:1', env: [{ name: 'SIZE', value: '1' }] };
    const prepare = { name: 'prepare', image: 'busybox' };
    const spec = { initContainers: [prepare], containers: [cache, { name: 'runner' }] };
    const { containers, initContainers } = specOf({ template: { spec } });
    expect(containers?.map(({ name }) => name)).toEqual(['runner']);
    expect(initContainers).toMatchObject([prepare, { ...cache, restartPolicy: 'Always' }]);
  });

  const OFFICIAL = 'ghcr.io/actions/actions-runner:latest';
  const OWN = 'registry.example.com/acme/runner:2';
  const RUN = ['/home/runner/run.sh'];
  const WINDOWS = { spec: { os: { name: 'windows' }, containers: [{ name: 'runner' }] } };
  test.each<[string, string, PodTemplate | undefined, string[] | undefined]>([
    ['Windows', OFFICIAL, WINDOWS, undefined],
    [
      'nodes with Windows',
      OWN,
      { spec: { nodeSelector: { 'beta.kubernetes.io/os': 'windows' } } },
      undefined,
    ],
    ['a mirror of the official image', `cache.example.com/${OFFICIAL}`, ofRunner({}), RUN],
    ['no runner in the template', OWN, { spec: { containers: [{ name: 'cache' }] } }, RUN],
    ['no template', OWN, undefined, RUN],
    ['an image of its own', OWN, ofRunner({}), undefined],
    ['an image named alike', 'summerwind/actions-runner:latest', ofRunner({}), undefined],
    ['arguments, which are for the image', OFFICIAL, ofRunner({ args: ['bash'] }), undefined],
    ['a command', OWN, ofRunner({ command: ['/start'], args: ['now'] }), ['/start']],
  ])(
    'with %s (%s), the command of the runner is that of Kubernetes unless nothing else would start (H3)',
    (_what, image, template, command) => {
      // The pool's own key makes a separate container, which does not set the command.
      const { runner } = specOf({ image, template, resources: { limits: { cpu: 1 } } });
      expect(runner?.command).toEqual(command);
    },
  );

  const HOOKS = { name: 'ACTIONS_RUNNER_CONTAINER_HOOKS', value: '/home/runner/k8s/index.js' };
  test.each<[PodTemplate, boolean | undefined]>([
    [{ spec: { serviceAccountName: '' } }, false],
    [{ spec: { serviceAccountName: 'deployer' } }, undefined],
    [{ spec: { serviceAccount: 'deployer' } }, undefined],
    [{ spec: { serviceAccountName: 'deployer', automountServiceAccountToken: false } }, false],
    [ofRunner({ env: [HOOKS] }), undefined],
  ])('a template with %j has the token of an entity: %s (H3)', (template, mounted) => {
    expect(specOf({ template }).automountServiceAccountToken).toBe(mounted);
  });
});

const dind = (template?: PodTemplate) => specOf({ containerMode: 'dind', template });

describe('containerMode dind', () => {
  test('names, volumes and variables are those of actions-runner-controller (H3)', () => {
    const { runner, initContainers, volumes } = dind();
    expect(runner).toMatchObject({
      env: [
        {},
        {},
        { name: 'DOCKER_HOST', value: 'unix:///var/run/docker.sock' },
        { name: 'RUNNER_WAIT_FOR_DOCKER_IN_SECONDS', value: '120' },
      ],
      volumeMounts: [
        { name: 'work', mountPath: '/home/runner/_work' },
        { name: 'dind-sock', mountPath: '/var/run' },
      ],
    });
    expect(initContainers).toMatchObject([
      {
        name: 'init-dind-externals',
        image: worker.image,
        command: ['cp', '-r', '/home/runner/externals/.', '/home/runner/tmpDir'],
        volumeMounts: [{ name: 'dind-externals', mountPath: '/home/runner/tmpDir' }],
      },
      {
        name: 'dind',
        image: 'docker:dind',
        args: ['dockerd', '--host=unix:///var/run/docker.sock', '--group=$(DOCKER_GROUP_GID)'],
        env: [{ name: 'DOCKER_GROUP_GID', value: '123' }],
        securityContext: { privileged: true },
        restartPolicy: 'Always',
        startupProbe: { exec: { command: ['docker', 'info'] } },
        volumeMounts: [
          { name: 'work', mountPath: '/home/runner/_work' },
          { name: 'dind-sock', mountPath: '/var/run' },
          { name: 'dind-externals', mountPath: '/home/runner/externals' },
        ],
      },
    ]);
    expect(volumes).toEqual(
      ['work', 'dind-sock', 'dind-externals'].map((name) => ({ name, emptyDir: {} })),
    );
  });

  test('a daemon among the containers of a template is dropped, for ours would wait for a socket that it does not make (H3)', () => {
    const other = { name: 'dind', image: 'mirror/docker:29', args: ['dockerd'] };
    const template = { spec: { containers: [{ name: 'runner' }, other] } };
    expect(dind(template)).toEqual(dind(ofRunner({})));
    expect(specOf({ template }).initContainers).toMatchObject([
      { ...other, restartPolicy: 'Always' },
    ]);
  });

  test('a template’s own work volume, mounts and variables replace ours', () => {
    const work = { name: 'work', ephemeral: { volumeClaimTemplate: {} } };
    const host = { name: 'DOCKER_HOST', value: 'tcp://localhost:2375' };
    const volumeMounts = [
      { name: 'work', mountPath: '/work' },
      { name: 'run', mountPath: '/var/run' },
    ];
    const containers = [{ name: 'runner', env: [host], volumeMounts }];
    const { runner, volumes } = dind({ spec: { volumes: [work], containers } });
    expect(volumes?.slice(2)).toEqual([work]);
    expect(runner?.volumeMounts).toEqual(volumeMounts);
    expect(runner?.env?.filter(({ name }) => name === 'DOCKER_HOST')).toEqual([host]);
  });
});

describe('the way outside (H4)', () => {
  test('a proxy reaches runner and daemon, in both spellings', () => {
    const proxy = { https: 'http://proxy:3128', noProxy: ['.acme.example', '10.0.0.0/8'] };
    const variables = [
      { name: 'HTTPS_PROXY', value: 'http://proxy:3128' },
      { name: 'https_proxy', value: 'http://proxy:3128' },
      { name: 'NO_PROXY', value: '.acme.example,10.0.0.0/8' },
      { name: 'no_proxy', value: '.acme.example,10.0.0.0/8' },
    ];
    const { runner, initContainers } = specOf({ containerMode: 'dind', proxy });
    for (const container of [runner, initContainers[1]])
      expect(container?.env).toEqual(expect.arrayContaining(variables));
  });

  test('a bundle of certificates is mounted where the runner takes it up, and where the daemon does', () => {
    const caBundle = { configMap: 'acme-ca', key: 'acme.crt' };
    const { runner, initContainers, volumes } = specOf({ containerMode: 'dind', caBundle });
    const mountPath = '/usr/local/share/ca-certificates/acme.crt';
    expect(runner?.env).toEqual(
      expect.arrayContaining([
        { name: 'NODE_EXTRA_CA_CERTS', value: mountPath },
        { name: 'RUNNER_UPDATE_CA_CERTS', value: '1' },
      ]),
    );
    const mount = { name: 'github-server-tls-cert', subPath: 'acme.crt', readOnly: true };
    expect(runner?.volumeMounts).toContainEqual({ ...mount, mountPath });
    expect(initContainers[1]?.volumeMounts).toContainEqual({
      ...mount,
      mountPath: '/etc/ssl/certs/paddock-acme.crt',
    });
    expect(volumes?.[0]).toEqual({
      name: 'github-server-tls-cert',
      configMap: { name: 'acme-ca', items: [{ key: 'acme.crt', path: 'acme.crt' }] },
    });
  });
});

describe('a pod made from the pool’s keys with Kubernetes’ names (H3)', () => {
  const image = 'ghcr.io/actions/actions-runner:latest';
  const resources = { requests: { cpu: 4 }, limits: { memory: '16Gi', 'nvidia.com/gpu': 1 } };
  const places = {
    nodeSelector: { accelerator: 'l4' },
    tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
    priorityClassName: 'builds',
    terminationGracePeriodSeconds: 3_600,
  };
  const whole = { resources, ...places };

  /** The spec of a pool's pod, as the scheduler makes it. */
  function podOf(written: object) {
    return specOf({ ...parsedPool({ image, ...written }), pool: 'gpu' });
  }

  test.each<[object]>([
    [{}],
    [{ containerMode: 'dind', proxy: { http: 'http://proxy:1' }, caBundle: { configMap: 'ca' } }],
  ])('is the pod of a template that says the same, beside %j', (more) => {
    const template = { spec: { ...places, containers: [{ name: 'runner', resources }] } };
    expect(podOf({ ...more, ...whole })).toEqual(podOf({ ...more, template }));
    expect(podOf({ ...more, ...whole })).toMatchObject({ ...places, runner: { resources } });
  });

  test('has the settings of pool and template, and gives its resources to the runner alone', () => {
    const containers = [{ name: 'cache', image: 'c:1' }];
    const spec = { nodeSelector: { zone: 'b' }, tolerations: [{ key: 'spot' }], containers };
    const made = podOf({ ...whole, containerMode: 'dind', template: { spec } });
    expect(made).toMatchObject({
      nodeSelector: { zone: 'b', accelerator: 'l4' },
      tolerations: [{ key: 'spot' }, ...places.tolerations],
      runner: { resources },
      initContainers: [{ name: 'init-dind-externals' }, { name: 'dind' }, { name: 'cache' }],
    });
    for (const container of made.initContainers) expect(container).not.toHaveProperty('resources');
  });
});

test.each([
  ['an entity id that is no number', { 'paddock.dev/entity-id': '4x2' }],
  ['no scope', { 'paddock.dev/scope-repo-id': '' }],
])('an object with %s is not ours', (_what, labels) => {
  const marks = runnerPod(worker).metadata?.labels;
  expect(identityOf({ labels: { ...marks, ...labels } })).toBeUndefined();
});

test.each<[unknown, ReturnType<typeof unknownPodFields>]>([
  [
    { nodeSelctor: {}, env: [] },
    [
      { path: 'nodeSelctor', meant: 'nodeSelector' },
      { path: 'env', meant: undefined },
    ],
  ],
  [
    {
      containers: [
        { name: 'a' },
        { name: 'b', imagePulPolicy: 'Always', securityContext: { capabilities: { dropp: [] } } },
      ],
    },
    [
      { path: 'containers[1].imagePulPolicy', meant: 'imagePullPolicy' },
      { path: 'containers[1].securityContext.capabilities.dropp', meant: 'drop' },
    ],
  ],
  [
    {
      nodeSelctor: null,
      nodeSelector: { anything: 'a' },
      containers: [{ resources: { limits: { 'a.b/c': 1 } } }],
      volumes: [{ name: 'w', ephemeral: { volumeClaimTemplate: { spec: {} } } }],
    },
    [],
  ],
  ['text', []],
])('%j has the unknown fields %j (H1)', (spec, unknown) => {
  expect(unknownPodFields(spec)).toEqual(unknown);
});
