import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { once } from 'node:events';
import type { Pod } from './api-object.ts';
import { connectControl } from '../remote-control.ts';
import type { RemoteKubeControl } from './kube-control.ts';
import { DIED, type RunnerFaults, withFaults } from './runner-faults.ts';
import {
  type KubeSimulator,
  type KubeSimulatorOptions,
  startKubeSimulator,
} from './start-kube-simulator.ts';

const pod = (name: string, annotations: Record<string, string> = {}) => {
  const valueFrom = { secretKeyRef: { name, key: 'jitconfig' } };
  const env = [{ name: 'ACTIONS_RUNNER_INPUT_JITCONFIG', valueFrom }];
  return {
    metadata: { name, annotations },
    spec: { containers: [{ name: 'runner', image: 'i', env }] },
  };
};

const stateOf = (found: Pod | undefined) => found?.status.containerStatuses?.[0]?.state;

describe('the simulated kubelet', () => {
  let simulator: KubeSimulator;
  let token: string;

  async function start(options: KubeSimulatorOptions = {}): Promise<void> {
    simulator = await startKubeSimulator({ startDelayMs: [0, 5], ...options });
    token = /"token":"(\w+)"/.exec(simulator.kubeconfig)?.[1] ?? '';
  }
  afterEach(async () => simulator.stop());

  async function call(method: string, path: string, body?: object) {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await fetch(`${simulator.url}/api/v1/namespaces/default/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  }
  const createSecret = (name: string) =>
    call('POST', 'secrets', { metadata: { name }, stringData: { jitconfig: `jit of ${name}` } });
  async function read(name: string): Promise<Pod | undefined> {
    const { status, text } = await call('GET', `pods/${name}`);
    return status === 200 ? (JSON.parse(text) as Pod) : undefined;
  }
  const untilPhase = (name: string, phase: string) =>
    waitFor(`${name} to be ${phase}`, async () => {
      const found = await read(name);
      return found?.status.phase === phase && found;
    });

  test('starts a pod, plays its runner with the JIT config of its Secret, and ends it with the exit code', async () => {
    const played: string[] = [];
    const gate = Promise.withResolvers<void>();
    await start({
      playRunner: async (jitConfig, _signal, onLine) => {
        played.push(jitConfig);
        onLine('Listening for Jobs');
        await gate.promise;
        return { exitCode: 3, log: ['Listening for Jobs', 'bye'] };
      },
    });
    await createSecret('a');
    await call('POST', 'pods', pod('a'));
    const running = await untilPhase('a', 'Running');
    expect(running.spec.nodeName).toBe('sim-node');
    const log = async () => (await call('GET', 'pods/a/log?container=runner')).text;
    await waitFor('the first line', async () => (await log()) === 'Listening for Jobs\n');
    gate.resolve();
    const failed = await untilPhase('a', 'Failed');
    expect(stateOf(failed)).toMatchObject({ terminated: { exitCode: 3, reason: 'Error' } });
    expect((await call('GET', 'pods/a/log?tailLines=1')).text).toBe('bye\n');
    expect(played).toEqual(['jit of a']);
    expect(simulator.report()).toMatchObject({
      podsByPhase: { Failed: 1 },
      mostActivePods: 1,
      secretsLeft: ['default/a'],
    });
  });

  test('waits for a missing Secret, like a real kubelet', async () => {
    await start({ playRunner: () => Promise.resolve({ exitCode: 0, log: [] }) });
    await call('POST', 'pods', pod('a'));
    await waitFor(
      'the wait',
      async () => stateOf(await read('a'))?.waiting?.reason === 'CreateContainerConfigError',
    );
    expect((await call('GET', 'pods/a/log')).status).toBe(400);
    await createSecret('a');
    expect(stateOf(await untilPhase('a', 'Succeeded'))).toMatchObject({
      terminated: { exitCode: 0, reason: 'Completed' },
    });
  });

  test('aborts the runner of a deleted pod, and its Secret goes with it', async () => {
    const aborted = Promise.withResolvers<void>();
    await start({
      playRunner: async (_jitConfig, signal) => {
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        aborted.resolve();
        return { exitCode: 143, log: [] };
      },
    });
    await createSecret('a');
    await call('POST', 'pods', pod('a'));
    const { metadata } = await untilPhase('a', 'Running');
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: metadata.uid }];
    expect((await call('PATCH', 'secrets/a', { metadata: { ownerReferences } })).status).toBe(200);
    const answer = JSON.parse((await call('DELETE', 'pods/a')).text) as Pod;
    expect(answer.metadata.deletionTimestamp).toBeDefined();
    await aborted.promise;
    await waitFor('the pod to go', async () => (await read('a')) === undefined);
    expect(simulator.report().secretsLeft).toEqual([]);
  });

  test.each([
    ['succeeded', { phase: 'Succeeded' }, { exitCode: 0, reason: 'Completed' }],
    ['failed', { phase: 'Failed' }, { exitCode: 7, reason: 'Error' }],
    ['evicted', { phase: 'Failed', reason: 'Evicted' }, { exitCode: 137, reason: 'Error' }],
    ['drained', { phase: 'Succeeded' }, { exitCode: 0, reason: 'Completed', message: 'bye' }],
  ] as const)('ends a running pod as %s on demand', async (end, status, terminated) => {
    await start();
    await createSecret('a');
    await call('POST', 'pods', pod('a'));
    await untilPhase('a', 'Running');
    const { exitCode, message } = { message: undefined, ...terminated };
    const wanted = end === 'failed' ? { exitCode } : { message };
    const control = connectControl<RemoteKubeControl>(simulator.url);
    await control.endPod({ namespace: 'default', name: 'a', end, ...wanted });
    const ended = await untilPhase('a', status.phase);
    expect(ended.status).toMatchObject(status);
    expect(stateOf(ended)).toMatchObject({ terminated });
  });

  test.each([
    ['image-pull-error', (found: Pod) => stateOf(found)?.waiting?.reason === 'ImagePullBackOff'],
    ['unschedulable', (found: Pod) => found.status.conditions?.[0]?.reason === 'Unschedulable'],
    ['never', (found: Pod) => found.spec.nodeName !== undefined],
  ])('leaves a pod that starts as %s Pending, and the pod can be deleted', async (how, shows) => {
    await start();
    await call('POST', 'pods', pod('a', { 'test.paddock/start': how }));
    await waitFor(how, async () => {
      const found = await read('a');
      return found !== undefined && shows(found);
    });
    expect((await read('a'))?.status.phase).toBe('Pending');
    await call('DELETE', 'pods/a');
    await waitFor('the pod to go', async () => (await read('a')) === undefined);
  });
});

/** A runner that is busy until it is killed, as `playRunner` of the simulated GitHub reports it. */
const busy = async (_config: string, signal: AbortSignal) => {
  if (!signal.aborted) await once(signal, 'abort');
  return { exitCode: 143, log: ['busy'] };
};
const quick = () => Promise.resolve({ exitCode: 0, log: ['done'] });

let struck: string[];

const play = (
  playRunner: typeof busy | typeof quick,
  faults: RunnerFaults,
  draws: readonly number[],
  killed = new AbortController(),
) => {
  const left = [...draws];
  const played = withFaults(playRunner, {
    faults: () => faults,
    random: () => left.shift() ?? 0,
    strike: (what) => void struck.push(what),
  });
  return played('config', killed.signal, () => undefined, { image: 'runner:1', env: {} });
};

/** The random number of a runner that does not die at its start. */
const LATER = 0.6;

describe('faults of runners', () => {
  beforeEach(() => {
    struck = [];
  });

  test('a runner that dies during its job ends as killed by the kernel', async () => {
    // With any fraction of a millisecond that the random number gives.
    expect(await play(busy, { dieRate: 0.1, dieWithinMs: 10 }, [0.09, LATER, 1 / 3])).toEqual({
      exitCode: DIED,
      log: ['busy'],
    });
    expect(struck).toEqual(['runner_died']);
  });

  test('a runner whose pod is deleted before its death was killed, and did not die', async () => {
    const killed = new AbortController();
    const played = play(busy, { dieRate: 1, dieWithinMs: 3_600_000 }, [0, LATER, 1], killed);
    killed.abort();
    expect(await played).toMatchObject({ exitCode: 143 });
  });

  test('a silent runner does nothing until its pod is deleted', async () => {
    const killed = new AbortController();
    const played = play(quick, { dieRate: 0.1, silentRate: 0.1 }, [0.5, 0.09], killed);
    killed.abort();
    expect(await played).toEqual({ exitCode: 143, log: [] });
    expect(struck).toEqual(['runner_silent']);
  });
});
