import { expect, test } from '@jest/globals';
import { minutesAgo } from '@paddock/testing/worker-rows';
import { useSchedulerWorld } from './scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ kubelet: false });

const TIMES = 20;
/** Everything that waits may try again now. */
async function goOn(): Promise<void> {
  await world.match();
  await world.makeDue();
  await world.endPauses();
  await world.runTasks();
}
const workersOf = async (login: string) =>
  (await world.workers()).filter((worker) => worker.entity_name === login);
const podsOf = async (login: string) =>
  (await workersOf(login)).filter(({ pod_uid: uid }) => uid !== null).length;
const callsFor = async () =>
  (await world.gitHub.report()).calls['actions/generate-runner-jitconfig-for-org'] ?? 0;

test.each([500, 502, 503, 504])(
  'GitHub answers %i to the registrations of one account alone, for ever: another’s jobs have their pods in the first pass, and each pause costs one call (P6, P4)',
  async (status) => {
    const sam = await world.addUser(`sam${status}`, ['one']);
    await world.gitHub.failNext({
      path: '/orgs/acme/actions/runners/generate-jitconfig',
      status,
      times: 1_000_000,
    });
    for (let n = 0; n < 3; n += 1) await world.queueJob();
    for (let n = 0; n < 3; n += 1) await goOn();
    // The failing account's jobs are the oldest.
    await world.db
      .updateTable('jobs')
      .set({ created_at: minutesAgo(1) })
      .execute();
    for (let n = 0; n < 5; n += 1) await world.queueJobOf(sam, 'one');
    const before = await callsFor();
    const made: number[] = [];
    for (let time = 0; time < TIMES; time += 1) {
      await goOn();
      made.push(await podsOf(sam.login));
    }
    expect(made).toEqual(Array.from({ length: TIMES }, () => 5));
    expect(await podsOf('acme')).toBe(0);
    expect((await callsFor()) - before).toBeLessThanOrEqual(TIMES);
    expect([await world.outages(), await world.failing()]).toMatchObject([
      [],
      [{ entity: 'acme', failureClass: 'github_error' }],
    ]);
    const keys = world.db
      .selectFrom('demand_keys')
      .select(['entity_name', 'waiting', 'unassigned', 'wait_reason'])
      .orderBy('entity_name');
    expect(await keys.execute()).toMatchObject([
      { entity_name: 'acme', waiting: 3, wait_reason: 'workers_failing' },
      { entity_name: sam.login, waiting: 5, unassigned: 5, wait_reason: null },
    ]);

    await world.gitHub.clearFaults();
    await world.settle();
    expect([await podsOf('acme'), await world.failing()]).toEqual([3, []]);
  },
);
