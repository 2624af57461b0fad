import type { PodTemplate } from '@paddock/domain/pools/pod-template';
import { runnerPod, type RunnerPodSpec } from '../runner-pod.ts';

export const worker: RunnerPodSpec = {
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

export const JIT_CONFIG = {
  name: 'ACTIONS_RUNNER_INPUT_JITCONFIG',
  valueFrom: { secretKeyRef: { name: worker.name, key: 'jitconfig' } },
};
export const DEPRECATION = {
  name: 'ACTIONS_RUNNER_RETURN_VERSION_DEPRECATED_EXIT_CODE',
  value: '1',
};

export const withTemplate = (template: PodTemplate) => runnerPod({ ...worker, template });
export const runnerOf = (pod: ReturnType<typeof runnerPod>) =>
  pod.spec?.containers.find(({ name }) => name === 'runner');
