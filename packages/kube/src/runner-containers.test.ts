import { describe, expect, test } from '@jest/globals';
import type { PodTemplate } from '@paddock/domain/pools/pod-template';
import { poolsDocument } from '@paddock/domain/pools/pools-document';
import { type RunnerPodSpec, runnerPod } from './runner-pod.ts';
import { runnerOf, withTemplate, worker } from './scenes/runner-pod.scene.ts';

describe('the containers of a runner’s pod', () => {
  test('a template’s container beside the runner is a sidecar, so that the pod ends with the runner (H3)', () => {
    const cache = { name: 'cache', image: 'cache:1', env: [{ name: 'SIZE', value: '1' }] };
    const prepare = { name: 'prepare', image: 'busybox' };
    const { spec } = withTemplate({
      spec: { initContainers: [prepare], containers: [cache, { name: 'runner' }] },
    });
    expect(spec?.containers.map(({ name }) => name)).toEqual(['runner']);
    expect(spec?.initContainers).toEqual([prepare, { ...cache, restartPolicy: 'Always' }]);
  });

  const OFFICIAL = 'ghcr.io/actions/actions-runner:latest';
  const OWN = 'registry.example.com/acme/runner:2';

  test.each<[string, string, object[] | undefined, string[] | undefined]>([
    ['the official image', OFFICIAL, [{ name: 'runner' }], ['/home/runner/run.sh']],
    [
      'a mirror of the official image',
      'cache.example.com/ghcr/actions/actions-runner@sha256:0',
      [{ name: 'runner' }],
      ['/home/runner/run.sh'],
    ],
    ['no container runner in the template', OWN, [{ name: 'cache' }], ['/home/runner/run.sh']],
    ['no template', OWN, undefined, ['/home/runner/run.sh']],
    ['an image of its own', OWN, [{ name: 'runner' }], undefined],
    [
      'an image that is only named alike',
      'summerwind/actions-runner:latest',
      [{ name: 'runner' }],
      undefined,
    ],
    [
      'arguments, which are for the image',
      OFFICIAL,
      [{ name: 'runner', args: ['bash', '-c', 'exec ./run.sh'] }],
      undefined,
    ],
    ['a command', OWN, [{ name: 'runner', command: ['/start'], args: ['now'] }], ['/start']],
  ])(
    'with %s (%s), the command of the runner is that of Kubernetes unless nothing else would start (H3)',
    (_what, image, containers, command) => {
      const template =
        containers === undefined ? undefined : ({ spec: { containers } } as PodTemplate);
      // The pool's own key makes a separate container, which does not set the command.
      const pod = runnerPod({ ...worker, image, template, resources: { limits: { cpu: 1 } } });
      expect(runnerOf(pod)?.command).toEqual(command);
    },
  );

  test.each<[NonNullable<PodTemplate['spec']>, boolean | undefined]>([
    [{}, false],
    [{ serviceAccountName: '' }, false],
    [{ serviceAccountName: 'deployer' }, undefined],
    [{ serviceAccount: 'deployer' }, undefined],
    [{ serviceAccountName: 'deployer', automountServiceAccountToken: false }, false],
    [
      {
        containers: [
          {
            name: 'runner',
            env: [{ name: 'ACTIONS_RUNNER_CONTAINER_HOOKS', value: '/home/runner/k8s/index.js' }],
          },
        ],
      },
      undefined,
    ],
  ])('a template with %j has the token of an entity: %s (H3)', (spec, mounted) => {
    expect(withTemplate({ spec }).spec?.automountServiceAccountToken).toBe(mounted);
  });
});

const specOf = (more: Partial<RunnerPodSpec>) => {
  const { spec } = runnerPod({ ...worker, image: 'runner:2', ...more });
  const [runner] = spec?.containers ?? [];
  return { runner, initContainers: spec?.initContainers ?? [], volumes: spec?.volumes ?? [] };
};
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
    expect(initContainers).toEqual([
      {
        name: 'init-dind-externals',
        image: 'runner:2',
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
        startupProbe: {
          exec: { command: ['docker', 'info'] },
          failureThreshold: 24,
          periodSeconds: 5,
        },
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

  const changed = {
    name: 'dind',
    image: 'mirror/docker:29',
    env: [{ name: 'DOCKER_GROUP_GID', value: '999' }],
  };

  test('a daemon among the containers of a template is dropped, for ours would wait for a socket that it does not make (H3)', () => {
    const other = { ...changed, args: ['dockerd', '--host=tcp://0.0.0.0:2375'] };
    expect(dind({ spec: { containers: [{ name: 'runner' }, other] } })).toEqual(
      dind({ spec: { containers: [{ name: 'runner' }] } }),
    );
    expect(specOf({ template: { spec: { containers: [other] } } }).initContainers).toEqual([
      { ...other, restartPolicy: 'Always' },
    ]);
  });

  test('a template’s own work volume, mounts and variables replace ours', () => {
    const work = { name: 'work', ephemeral: { volumeClaimTemplate: {} } };
    const { runner, volumes } = dind({
      spec: {
        volumes: [work],
        containers: [
          {
            name: 'runner',
            env: [{ name: 'DOCKER_HOST', value: 'tcp://localhost:2375' }],
            volumeMounts: [
              { name: 'work', mountPath: '/work' },
              { name: 'run', mountPath: '/var/run' },
            ],
          },
        ],
      },
    });
    expect(volumes.map(({ name }) => name)).toEqual(['dind-sock', 'dind-externals', 'work']);
    expect(volumes).toContainEqual(work);
    expect(runner?.volumeMounts?.map(({ mountPath }) => mountPath)).toEqual(['/work', '/var/run']);
    expect(runner?.env?.filter(({ name }) => name === 'DOCKER_HOST')).toEqual([
      { name: 'DOCKER_HOST', value: 'tcp://localhost:2375' },
    ]);
  });
});

describe('the way outside (H4)', () => {
  const proxy = { https: 'http://proxy:3128', noProxy: ['.acme.example', '10.0.0.0/8'] };
  const variables = [
    { name: 'HTTPS_PROXY', value: 'http://proxy:3128' },
    { name: 'https_proxy', value: 'http://proxy:3128' },
    { name: 'NO_PROXY', value: '.acme.example,10.0.0.0/8' },
    { name: 'no_proxy', value: '.acme.example,10.0.0.0/8' },
  ];

  test('a proxy reaches runner and daemon, in both spellings', () => {
    const { runner, initContainers } = specOf({ containerMode: 'dind', proxy });
    expect(runner?.env).toEqual(expect.arrayContaining(variables));
    expect(initContainers[1]?.env).toEqual([
      { name: 'DOCKER_GROUP_GID', value: '123' },
      ...variables,
    ]);
    expect(specOf({}).runner?.env).toHaveLength(2);
  });

  test('a bundle of certificates is mounted where the runner takes it up, and where the daemon does', () => {
    const { runner, initContainers, volumes } = specOf({
      containerMode: 'dind',
      caBundle: { configMap: 'acme-ca', key: 'acme.crt' },
    });
    expect(runner?.env).toEqual(
      expect.arrayContaining([
        { name: 'NODE_EXTRA_CA_CERTS', value: '/usr/local/share/ca-certificates/acme.crt' },
        { name: 'RUNNER_UPDATE_CA_CERTS', value: '1' },
      ]),
    );
    const mount = { name: 'github-server-tls-cert', subPath: 'acme.crt', readOnly: true };
    expect(runner?.volumeMounts).toContainEqual({
      ...mount,
      mountPath: '/usr/local/share/ca-certificates/acme.crt',
    });
    expect(initContainers[1]?.volumeMounts).toContainEqual({
      ...mount,
      mountPath: '/etc/ssl/certs/paddock-acme.crt',
    });
    expect(volumes[0]).toEqual({
      name: 'github-server-tls-cert',
      configMap: { name: 'acme-ca', items: [{ key: 'acme.crt', path: 'acme.crt' }] },
    });
  });
});

/**
 * Of another image a template's runner keeps its own command, which a pool's keys do not ask for.
 */
const image = 'ghcr.io/actions/actions-runner:latest';

/** The pod of a pool, as the scheduler makes it. */
function podOf(written: object): ReturnType<typeof runnerPod> {
  const content = {
    pools: [{ name: 'gpu', labels: ['gpu'], image, namespace: 'runners', ...written }],
    entities: {},
  };
  const [pool] = poolsDocument.parse(content).pools;
  if (pool === undefined) throw new Error('There is no pool in the document.');
  return runnerPod({
    ...pool,
    name: 'pdk-i-1',
    instance: 'i',
    pool: pool.name,
    entityId: 42,
    scopeRepoId: 0,
  });
}

const resources = {
  requests: { cpu: 4, memory: '16Gi' },
  limits: { memory: '16Gi', 'nvidia.com/gpu': 1 },
};
const places = {
  nodeSelector: { accelerator: 'l4' },
  tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
  priorityClassName: 'builds',
  terminationGracePeriodSeconds: 3_600,
};
const whole = { resources, ...places };

describe('a pod made from the pool’s keys with Kubernetes’ names (H3)', () => {
  test.each<[object]>([
    [{}],
    [{ containerMode: 'dind' }],
    [{ containerMode: 'dind', proxy: { http: 'http://proxy:1' }, caBundle: { configMap: 'ca' } }],
  ])('is the pod of a template that says the same, beside %j', (more) => {
    const template = { spec: { ...places, containers: [{ name: 'runner', resources }] } };
    expect(podOf({ ...more, ...whole })).toEqual(podOf({ ...more, template }));
    expect(podOf({ ...more, ...whole }).spec).toMatchObject({
      ...places,
      containers: [{ name: 'runner', resources }],
    });
  });

  test('has the settings of pool and template', () => {
    const template = {
      metadata: { labels: { team: 'research' } },
      spec: {
        nodeSelector: { zone: 'b' },
        tolerations: [{ key: 'spot' }],
        containers: [{ name: 'runner', env: [{ name: 'A', value: '1' }] }],
      },
    };
    const { metadata, spec } = podOf({ ...whole, template });
    expect(metadata?.labels).toMatchObject({ team: 'research' });
    expect(spec?.nodeSelector).toEqual({ zone: 'b', accelerator: 'l4' });
    expect(spec?.tolerations).toEqual([{ key: 'spot' }, ...places.tolerations]);
    expect(spec?.containers[0]).toMatchObject({
      resources,
      env: expect.arrayContaining([{ name: 'A', value: '1' }]),
    });
  });

  test('gives its resources to the runner alone, not to the Docker daemon or a sidecar', () => {
    const { spec } = podOf({
      ...whole,
      containerMode: 'dind',
      template: { spec: { containers: [{ name: 'cache', image: 'c:1' }] } },
    });
    expect(spec?.initContainers?.map(({ name }) => name)).toEqual([
      'init-dind-externals',
      'dind',
      'cache',
    ]);
    for (const container of spec?.initContainers ?? [])
      expect(container).not.toHaveProperty('resources');
  });
});
