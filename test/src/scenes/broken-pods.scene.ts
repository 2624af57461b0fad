import type { ChartObject } from '@paddock/testing/render-chart';
import { waitFor } from '@paddock/testing/wait-for';
import type { ChartCluster } from './chart-cluster.scene.ts';
import { type Place, startContainer } from './play-container.scene.ts';
import type { PlayedPod } from './played-pod.scene.ts';

export interface Defect {
  readonly what: string;
  readonly service: 'ingress' | 'scheduler' | 'reconciler';
  /** Text of the pod, as JSON, and what a wrong chart would have in its place. */
  readonly find: string;
  readonly replace: string;
  /** What tells of it: the error of the start, or a line of the log. */
  readonly reason: RegExp;
}

export const DEFECTS: readonly Defect[] = [
  {
    what: 'a variable has another name',
    service: 'scheduler',
    find: '"name":"PADDOCK_CONFIG"',
    replace: '"name":"PADDOCK_CONFIGURATION"',
    reason: /PADDOCK_CONFIG\b/,
  },
  {
    what: 'the DSN has another key',
    service: 'ingress',
    find: '"key":"ingress"',
    replace: '"key":"ingres"',
    reason: /couldn't find key ingres in Secret paddock-database/,
  },
  {
    what: 'the port of health has another number',
    service: 'ingress',
    find: '"containerPort":8083',
    replace: '"containerPort":8084',
    reason: /does not listen at its port health, 8084/,
  },
  {
    what: 'the probe has another path',
    service: 'reconciler',
    find: '"path":"/readyz"',
    replace: '"path":"/ready"',
    reason: /the readinessProbe of reconciler is answered 404/,
  },
  {
    what: 'the configuration is mounted elsewhere',
    service: 'reconciler',
    find: '"mountPath":"/etc/paddock/config"',
    replace: '"mountPath":"/etc/paddock/configuration"',
    reason: /ENOENT.*\/etc\/paddock\/config\/paddock.yaml/s,
  },
  {
    what: 'the private key is mounted elsewhere',
    service: 'scheduler',
    find: '"mountPath":"/etc/paddock/app"',
    replace: '"mountPath":"/etc/paddock/apps"',
    reason: /\/etc\/paddock\/app\/private-key.pem/,
  },
];

const altered = (pod: PlayedPod, find: string, replace: string): PlayedPod => {
  const text = JSON.stringify(pod);
  if (!text.includes(find)) throw new Error(`${pod.metadata.name} has no ${find}`);
  return JSON.parse(text.replace(find, () => replace)) as PlayedPod;
};

/** Starts a pod with a defect; resolves with the reason why it does not get ready. */
export async function whyNotReady(
  place: Place,
  pod: PlayedPod,
  { find, replace }: Defect,
): Promise<string> {
  try {
    const container = await startContainer(place, altered(pod, find, replace));
    try {
      await container.untilReady();
      return 'no failure';
    } finally {
      await container.end();
    }
  } catch (error) {
    return String(error);
  }
}

/** Starts a pod whose readiness asks nothing of the cluster; resolves with its complaint. */
export async function complaintOf(place: Place, pod: PlayedPod): Promise<string> {
  const container = await startContainer(place, pod);
  try {
    return await waitFor('a complaint about the cluster', () =>
      container.program.lines().find((line) => line.includes('watch of pods was interrupted')),
    );
  } finally {
    await container.end();
  }
}

/** The scheduler's pod without a token. */
export const withoutToken = (pod: PlayedPod): PlayedPod =>
  altered(pod, '/var/run/secrets/kubernetes.io/serviceaccount', '/nowhere');

/** The scheduler's pod under an account like its own, whose Role has `get` in place of a verb. */
export async function withoutVerb(
  cluster: ChartCluster,
  pod: PlayedPod,
  rendered: readonly ChartObject[],
  verb: string,
): Promise<PlayedPod> {
  const { serviceAccountName } = pod.spec;
  const own = rendered.filter(({ kind, metadata: { name } }) =>
    kind === 'ServiceAccount'
      ? name === serviceAccountName
      : (kind === 'Role' || kind === 'RoleBinding') && name.endsWith('-scheduler'),
  );
  for (const object of own) {
    const text = JSON.stringify(object)
      .replaceAll('-scheduler"', '-lame"')
      .replaceAll(`"${verb}"`, '"get"');
    await cluster.apply(JSON.parse(text) as ChartObject);
  }
  return altered(
    pod,
    `"serviceAccountName":"${serviceAccountName}"`,
    `"serviceAccountName":"${serviceAccountName.replace('-scheduler', '-lame')}"`,
  );
}
