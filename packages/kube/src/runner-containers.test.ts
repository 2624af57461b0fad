import { describe, expect, test } from '@jest/globals';
import type { PodTemplate } from '@paddock/domain/pools/pod-template';
import { runnerPod } from './runner-pod.ts';
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

  test('keys without a value mean as much as no keys (H3)', () => {
    const runner = { name: 'runner', env: null, volumeMounts: null, command: null };
    const empty = {
      metadata: null,
      spec: { containers: [runner], initContainers: null, volumes: null, nodeSelector: null },
    };
    expect(runnerPod({ ...worker, image: OFFICIAL, template: empty })).toEqual(
      runnerPod({ ...worker, image: OFFICIAL }),
    );
    expect(withTemplate({ metadata: { labels: null, annotations: null }, spec: null })).toEqual(
      runnerPod(worker),
    );
  });

  test('building a pod leaves the template as it was', () => {
    const template = {
      metadata: { labels: {} },
      spec: { containers: [{ name: 'runner', env: [{ name: 'A' }] }, { name: 'cache' }] },
    };
    const before = structuredClone(template);
    runnerPod({ ...worker, template, containerMode: 'dind' });
    expect(template).toEqual(before);
  });
});
