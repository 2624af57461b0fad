import { describe, expect, test } from '@jest/globals';
import type { PodTemplate } from '@paddock/domain/pools/pod-template';
import { runnerPod, type RunnerPodSpec } from './runner-pod.ts';

const worker: RunnerPodSpec = {
  name: 'pdk-abc123-1',
  namespace: 'runners',
  instance: 'abc123',
  pool: 'linux',
  image: 'runner:2',
  entityId: 42,
  scopeRepoId: 0,
};
const specOf = (more: Partial<RunnerPodSpec>) => {
  const { spec } = runnerPod({ ...worker, ...more });
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

  test('a template changes the daemon as an init container of its name', () => {
    const { initContainers } = dind({ spec: { initContainers: [changed] } });
    expect(initContainers.map(({ name }) => name)).toEqual(['init-dind-externals', 'dind']);
    expect(initContainers[1]).toMatchObject({ ...changed, securityContext: { privileged: true } });
  });

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
