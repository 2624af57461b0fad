import { expect, test } from '@jest/globals';
import { noteFailure } from '@paddock/db/breakers/note-failure';
import { poolBreaker } from '@paddock/db/breakers/breaker-subjects';
import { BREAKER_RULES } from '@paddock/testing/breaker-rules';
import { useEvidence, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

// Without a kubelet: pods stay Pending, so that the test can look at the remains.
const world = useSchedulerWorld({ kubelet: false });
const seen = useEvidence(world);

const JIT = '/generate-jitconfig$';

const calls = [
  { name: 'minting a token', side: 'github', method: 'POST', path: 'access_tokens$' },
  { name: 'asking for the JIT config', side: 'github', method: 'POST', path: JIT },
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

/** Has failures open a breaker of the first worker's pool, whose pause is over. */
async function openBreaker(failureClass: string): Promise<void> {
  const subject = poolBreaker((await world.workers())[0]?.k8s_pool ?? '');
  for (let n = 0; n < BREAKER_RULES.failures; n += 1) {
    await noteFailure(
      { db: world.db, breakerRules: BREAKER_RULES },
      { subject, failureClass, message: 'failed before' },
    );
  }
  await world.db
    .updateTable('breakers')
    .set({ paused_until: new Date(0) })
    .execute();
}

test('a trial continues when its pod is made: no other begins before that pod has an outcome (C11)', async () => {
  await world.queueJob();
  await world.match();
  await openBreaker('image_pull');
  await world.runTasks();
  expect(seen.pods()).toHaveLength(1);
  expect(await world.db.selectFrom('breakers').select('trial_until').execute()).toEqual([
    { trial_until: expect.any(Date) },
  ]);
});

test('a trial that fails for one thing leaves all else to the next one at once (C11, P1)', async () => {
  await world.queueJob();
  await world.match();
  await openBreaker('pod_refused');
  await world.gitHub.failNext({ method: 'POST', path: JIT, status: 404 });
  await world.runTasks();
  expect(await seen.runners()).toEqual([]);
  await world.makeDue();
  await world.runTasks();
  await seen.expectOneWorker();
});

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
