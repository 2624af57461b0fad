import { beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { kill, useSystem } from './start-system.ts';

/**
 * Soon enough for a test: another scheduler takes over the dead one's tasks, and its remains at
 * GitHub are removed.
 */
const SHORT = {
  scheduler: { leaseMs: 2_000, leaseRenewMs: 500 },
  queue: { taskLeaseMs: 5_000, taskBackoffFirstMs: 200 },
  reconciler: { registrationGraceMs: 500, registrationsEverySeconds: 1 },
};

/** Every outside call of provisioning: the simulator's name of it, and its request. */
const CALLS = {
  'the installation token': [
    'github',
    'apps/create-installation-access-token',
    'POST /access_tokens$',
  ],
  'the registration': [
    'github',
    'actions/generate-runner-jitconfig-for-org',
    'POST /generate-jitconfig$',
  ],
  'the Secret': ['cluster', 'create secrets', 'POST /secrets$'],
  'the pod': ['cluster', 'create pods', 'POST /pods$'],
  'the Secret’s owner': ['cluster', 'patch secrets', 'PATCH /secrets/'],
} as const;

/** Whether the call took effect before the process died. */
const STEPS: readonly (readonly [when: 'before' | 'after', call: keyof typeof CALLS])[] = [
  ['before', 'the installation token'],
  ['before', 'the registration'],
  ['after', 'the registration'],
  ['before', 'the Secret'],
  ['after', 'the Secret'],
  ['before', 'the pod'],
  ['after', 'the pod'],
  ['before', 'the Secret’s owner'],
  ['after', 'the Secret’s owner'],
];

describe('the scheduler is killed in the middle of provisioning and started again (P1, P2, P3, C6)', () => {
  const system = useSystem({ ingress: {}, reconciler: { rules: SHORT } });
  const startScheduler = () => system.start('scheduler', { rules: SHORT });
  // The one that took over in one test is killed in the next.
  beforeAll(startScheduler);

  test.each(STEPS)('%s %s: no job lost, no worker in excess, nothing left', async (when, call) => {
    const { github, cluster } = system;
    const [at, counted, request] = CALLS[call];
    const [method = '', path = ''] = request.split(' ');
    const made = async () =>
      (at === 'github'
        ? (await github.report()).calls[counted]
        : cluster.report().calls[counted]) ?? 0;
    const before = await made();
    const fault = { method, path, afterCommit: when === 'after', hang: true };
    if (at === 'github') await github.failNext(fault);
    else cluster.failNext(fault);
    const ids = await system.queueJobs(1, { durationMs: 50 });
    await waitFor('the scheduler to wait for that call', async () => (await made()) > before);
    await kill(system.running.get('scheduler'));

    await startScheduler();
    await system.untilJobs(ids, 'completed');
    await system.untilWorkersEnd();
    await waitFor(
      'every registration to be gone',
      async () => (await github.truth()).runners.length === 0,
    );
    await waitFor('every Secret to be gone', () => cluster.report().secretsLeft.length === 0);
    expect(await github.report()).toMatchObject({ lost: 0, killed: 0, excessWorkers: 0 });
    expect(cluster.report().podsByPhase['Running'] ?? 0).toBe(0);
  });
});
