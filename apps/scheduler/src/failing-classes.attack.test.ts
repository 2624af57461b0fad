import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { noteKeyFailure } from '@paddock/db/workers/failing-keys';
import { type Bystanders, besideAttackers, GPU } from './scenes/attackers.scene.ts';
import { type SchedulerWorld, startSchedulerWorld } from './scenes/scheduler.scene.ts';
import type { TestUser } from './scenes/users.scene.ts';

let world: SchedulerWorld;
let others: Bystanders;
let helpers: TestUser[];
beforeAll(async () => {
  world = await startSchedulerWorld({ playRunners: false });
  others = await besideAttackers(world);
  helpers = [await world.addUser('eve', ['one']), await world.addUser('mallory', ['one'])];
});
afterAll(() => world.stop());
beforeEach(async () => {
  await world.reset();
  await world.putPools(GPU);
});

/** Every class of failure that has rules of its own, and some that have none. */
const CLASSES = [
  'github_error',
  'invalid',
  'conflict',
  'unusable',
  'pod_refused',
  'cluster_error',
  'image_pull',
  'container_config',
  'node_refused',
  'pending_timeout',
  'outdated_runner',
  'not_assigned',
  'exit_code',
  'out_of_memory',
  'crash_loop',
  'not_registered',
  'offline',
  'a class of a later version',
];

/** The key of each of these workers fails ten times, as soon as it may. */
async function fail(podNames: readonly string[], failureClass: string): Promise<void> {
  for (let n = 0; n < 10; n += 1) {
    await world.endPauses();
    for (const podName of podNames) {
      const failure = { podName, failureClass, message: 'it fails' };
      await noteKeyFailure(world.db, failure, world.parts.failureRules);
    }
  }
  await world.holdPauses();
}

/** The first worker of each attacker; the jobs go on waiting. */
async function startAttackers(attackers: readonly TestUser[]): Promise<string[]> {
  await others.queue(3);
  for (const attacker of attackers) await others.queueOf(attacker, 3);
  await world.match();
  const logins = ['acme', ...attackers.map(({ login }) => login)];
  const workers = await Promise.all(logins.map(others.workersOf));
  return workers.flatMap(([first]) => (first === undefined ? [] : [first.pod_name]));
}

describe.each(CLASSES)('failures of the class %s (C11, P6)', (failureClass) => {
  test('of one entity: all others in its pool have their runners at once, and so has its other pool', async () => {
    await fail(await startAttackers([]), failureClass);
    expect(await others.serveOthers()).toBe(5);
    expect(await others.servedOf('acme')).toBe(0);
    await others.queue(1, 'gpu');
    await others.matchAndRun();
    expect(await others.servedOf('acme', 'gpu')).toBe(1);
    expect(await world.failing()).toMatchObject([{ entity: 'acme', pool: 'linux' }]);
  });

  test('of three entities: all others in their pool have one runner at once, the rest once it runs, and in other pools all', async () => {
    const attackers = await startAttackers(helpers);
    await fail(attackers, failureClass);
    await others.queueOf(others.sam, 5, 'gpu');
    await others.queueOf(others.sam, 5);
    await others.matchAndRun();
    const served = async () => [await others.servedOf('sam'), await others.servedOf('sam', 'gpu')];
    expect(await served()).toEqual([1, 5]);
    expect(await world.failing()).toHaveLength(3);
    await others.seeRunning((await others.living('sam')).map((worker) => worker.pod_name));
    await others.matchAndRun();
    expect(await served()).toEqual([5, 5]);
    // From then on there is no suspicion, however often the others fail.
    await fail(attackers, failureClass);
    expect(await others.serveOthers()).toBe(5);
  });
});
