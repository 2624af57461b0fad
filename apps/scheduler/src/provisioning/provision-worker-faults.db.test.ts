import { expect, test } from '@jest/globals';
import { useEvidence, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

// Without a kubelet: pods stay Pending, so that the test can look at the remains.
const world = useSchedulerWorld({ kubelet: false });
const seen = useEvidence(world);

const calls = [
  { name: 'minting a token', side: 'github', method: 'POST', path: 'access_tokens$' },
  {
    name: 'asking for the JIT config',
    side: 'github',
    method: 'POST',
    path: '/generate-jitconfig$',
  },
  { name: 'looking for the pod', side: 'kube', method: 'GET', path: '/pods/[^/]+$' },
  { name: 'looking for the Secret', side: 'kube', method: 'GET', path: '/secrets/[^/]+$' },
  { name: 'creating the Secret', side: 'kube', method: 'POST', path: '/secrets$' },
  { name: 'creating the pod', side: 'kube', method: 'POST', path: '/pods$' },
  { name: 'setting the Secret’s owner', side: 'kube', method: 'PATCH', path: '/secrets/[^/]+$' },
] as const;
const ways = [
  { how: 'with 500', fault: { status: 500 } },
  { how: 'with 503 after the work was done', fault: { status: 503, afterCommit: true } },
  { how: 'with a cut connection', fault: {} },
  { how: 'with a cut connection after the work was done', fault: { afterCommit: true } },
  { how: 'with 403', fault: { status: 403 } },
  { how: 'with 404', fault: { status: 404 } },
  { how: 'with 429', fault: { status: 429 } },
] as const;
const cases = calls.flatMap((call) => ways.map((way) => Object.assign({}, call, way)));

const registrationsAsked = async () =>
  (await world.gitHub.report()).calls['actions/generate-runner-jitconfig-for-org'] ?? 0;

test.each(cases)(
  '$name $how: the job gets one worker in the end, and each object has a row (C6, P1, P3)',
  async (each) => {
    await world.queueJob();
    const { side, method, path, fault } = each;
    const before = await registrationsAsked();
    if (side === 'github') await world.gitHub.failNext({ method, path, ...fault });
    else world.kube.failNext({ method, path, ...fault });
    await world.settle();
    await seen.expectOneWorker();
    expect(await seen.tasks()).toEqual([]);
    // After a refusal the next attempt asks again. When a runner may exist, asking again would be
    // in vain (P4).
    const wasRefused = 'status' in fault && fault.status < 500;
    expect((await registrationsAsked()) - before).toBeLessThanOrEqual(
      (await world.workers()).length + (wasRefused ? 1 : 0),
    );
  },
);
