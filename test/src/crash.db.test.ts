import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Program } from '@paddock/processes/start-program';
import { waitFor } from '@paddock/testing/wait-for';
import { kill, startSystem, type TestSystem } from './start-system.ts';

/**
 * Soon enough for a test: another scheduler takes over the dead one's tasks, and its remains at
 * GitHub are removed.
 */
const SHORT = {
  scheduler: { leaseMs: 2_000, leaseRenewMs: 500 },
  queue: { taskLeaseMs: 5_000, taskBackoffFirstMs: 200 },
  reconciler: { registrationGraceMs: 500, registrationsEverySeconds: 1 },
};

const TOKEN = {
  counted: 'apps/create-installation-access-token',
  method: 'POST',
  path: '/access_tokens$',
};
const JIT = {
  counted: 'actions/generate-runner-jitconfig-for-org',
  method: 'POST',
  path: '/generate-jitconfig$',
};
const SECRET = { counted: 'create secrets', method: 'POST', path: '/secrets$' };
const POD = { counted: 'create pods', method: 'POST', path: '/pods$' };
const OWNER = { counted: 'patch secrets', method: 'PATCH', path: '/secrets/' };

/** Every outside call of provisioning, and whether it took effect before the process died. */
const STEPS = [
  { when: 'before the installation token', at: 'github', call: TOKEN, afterCommit: false },
  { when: 'before the registration', at: 'github', call: JIT, afterCommit: false },
  { when: 'after the registration, before its answer', at: 'github', call: JIT, afterCommit: true },
  { when: 'before the Secret', at: 'cluster', call: SECRET, afterCommit: false },
  { when: 'after the Secret, before its answer', at: 'cluster', call: SECRET, afterCommit: true },
  { when: 'before the pod', at: 'cluster', call: POD, afterCommit: false },
  { when: 'after the pod, before its answer', at: 'cluster', call: POD, afterCommit: true },
  { when: 'before the Secret has its owner', at: 'cluster', call: OWNER, afterCommit: false },
  {
    when: 'after the Secret has its owner, before the answer',
    at: 'cluster',
    call: OWNER,
    afterCommit: true,
  },
] as const;

describe('the scheduler is killed in the middle of provisioning and started again (P1, P2, P3, C6)', () => {
  let system: TestSystem;

  beforeAll(async () => {
    system = await startSystem();
    await system.start('ingress');
    await system.start('reconciler', { rules: SHORT });
  });

  afterAll(() => system.stop());

  /** The one that took over in one test is killed in the next. */
  let scheduler: Program | undefined;
  const startScheduler = async () => {
    scheduler = await system.start('scheduler', { rules: SHORT });
  };
  const killScheduler = async () => {
    await kill(scheduler);
    scheduler = undefined;
  };
  beforeEach(async () => {
    if (scheduler === undefined) await startScheduler();
  });

  test.each(STEPS)(
    '$when: no job lost, no worker in excess, nothing left',
    async ({ at, call, afterCommit }) => {
      const { github, cluster } = system;
      const { counted, method, path } = call;
      const made = async () =>
        (at === 'github'
          ? (await github.report()).calls[counted]
          : cluster.report().calls[counted]) ?? 0;
      const before = await made();
      const fault = { method, path, afterCommit, hang: true };
      if (at === 'github') await github.failNext(fault);
      else cluster.failNext(fault);
      const ids = await system.queueJobs(1, { durationMs: 50 });
      await waitFor('the scheduler to wait for that call', async () => (await made()) > before);
      await killScheduler();

      await startScheduler();
      await system.untilJobs(ids, 'completed');
      await system.untilWorkersEnd();
      await waitFor(
        'every registration to be gone',
        async () => (await github.truth()).runners.length === 0,
      );
      await waitFor('every Secret to be gone', () => cluster.report().secretsLeft.length === 0);
      const report = await github.report();
      expect({ lost: report.lost, killed: report.killed, excess: report.excessWorkers }).toEqual({
        lost: 0,
        killed: 0,
        excess: 0,
      });
      expect(cluster.report().podsByPhase['Running'] ?? 0).toBe(0);
    },
  );
});
