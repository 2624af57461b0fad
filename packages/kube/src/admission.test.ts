import { expect, test } from '@jest/globals';
import { changedByAdmission } from './admission.ts';
import { runnerPod } from './runner-pod.ts';

const REPOSITORY = 'ghcr.io/actions/actions-runner';
const DIGEST = `sha256:${'a'.repeat(64)}`;
const podOf = (image = `${REPOSITORY}:2.330.0`) =>
  runnerPod({
    name: 'pdk-i-1',
    namespace: 'runners',
    instance: 'i',
    pool: 'linux',
    entityId: 42,
    scopeRepoId: 0,
    deliveryGuid: 'd-1',
    image,
    template: { spec: { containers: [{ name: 'runner' }, { name: 'cache', image: 'cache:1' }] } },
  });
type Pod = ReturnType<typeof podOf>;

/** What is found if a webhook sets these fields of the metadata or the spec of a pod. */
const foundIn = (asked: Pod, { metadata, spec }: { metadata?: object; spec?: object }) =>
  changedByAdmission(asked, {
    metadata: { ...asked.metadata, ...metadata },
    spec: { ...asked.spec, ...spec } as NonNullable<Pod['spec']>,
  });
const { metadata, spec } = podOf();
const [runner] = spec?.containers ?? [];
const beside = spec?.initContainers ?? [];
const withRunner = (fields: object) => ({ spec: { containers: [{ ...runner, ...fields }] } });

test.each([
  {},
  { metadata: { labels: { ...metadata?.labels, team: 'a' }, finalizers: ['a/b'] } },
  { metadata: { annotations: { ...metadata?.annotations, 'sidecar/status': 'injected' } } },
  { spec: { containers: [runner, { name: 'istio-proxy', image: 'p' }] } },
  { spec: { initContainers: [{ name: 'istio-init', image: 'i' }, ...beside] } },
  { spec: { tolerations: [{ key: 'a' }], imagePullSecrets: [{ name: 'b' }], nodeName: 'c' } },
  { spec: { serviceAccountName: 'default', priorityClassName: 'low' } },
  withRunner({ command: ['/vault-env'], args: ['run.sh'], env: [], volumeMounts: [] }),
])('a webhook may set %j (H3)', (change) => {
  expect(foundIn(podOf(), change)).toBeUndefined();
});

test.each<[string, { metadata?: object; spec?: object }]>([
  ["Paddock's labels and annotations", { metadata: { labels: {} } }],
  ["Paddock's labels and annotations", { metadata: { annotations: {} } }],
  ['its name', { metadata: { namespace: 'other' } }],
  ['its owners', { metadata: { ownerReferences: [{ kind: 'Job', name: 'a', uid: 'b' }] } }],
  ['the service account', { spec: { serviceAccountName: 'deployer' } }],
  ['automountServiceAccountToken', { spec: { automountServiceAccountToken: true } }],
  ['restartPolicy', { spec: { restartPolicy: 'Always' } }],
  ['activeDeadlineSeconds', { spec: { activeDeadlineSeconds: 3_600 } }],
  ['the container cache, which is missing', { spec: { initContainers: [] } }],
  ['the image of the container runner, now other:1', withRunner({ image: 'other:1' })],
])('no pod is kept in which %s has changed, as by %j (H3, P2)', (what, change) => {
  expect(foundIn(podOf(), change)).toBe(what);
});

test.each([
  [`${REPOSITORY}:2.330.0`, `mirror.example.com:5000/${REPOSITORY}:2.330.0`, true],
  [`${REPOSITORY}:2.330.0`, 'mirror.example.com/actions/actions-runner:2.330.0', true],
  [`${REPOSITORY}:2.330.0`, `${REPOSITORY}:2.330.0@${DIGEST}`, true],
  [`${REPOSITORY}:2.330.0`, `${REPOSITORY}@${DIGEST}`, true],
  [`${REPOSITORY}@${DIGEST}`, `mirror.example.com/actions/actions-runner@${DIGEST}`, true],
  ['runner', 'docker.io/library/runner:latest', true],
  [`${REPOSITORY}:2.330.0`, `${REPOSITORY}:latest`, false],
  [`${REPOSITORY}:2.330.0`, 'mirror.example.com/other/runner:2.330.0', false],
  [`${REPOSITORY}@${DIGEST}`, `${REPOSITORY}:2.330.0`, false],
  ['acme/runner:1', 'mirror.example.com/not-acme/runner:1', false],
])('%s in place of %s is a mirror: %s (H3)', (asked, image, isMirror) => {
  expect(foundIn(podOf(asked), withRunner({ image })) === undefined).toBe(isMirror);
});
