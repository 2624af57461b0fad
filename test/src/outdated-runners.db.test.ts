import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { startSystem, type TestSystem } from './start-system.ts';

let system: TestSystem;
beforeAll(async () => {
  system = await startSystem();
  await system.start('ingress');
  // Short, so that the trials after the alarm come soon.
  await system.start('scheduler', {
    rules: { db: { failingPauseMs: 500, failingLongestPauseMs: 1_000 } },
  });
  // It finds the success of a trial whose job was heard of only after its end.
  await system.start('reconciler', { rules: { reconciler: { lookUpJobsEverySeconds: 2 } } });
});
afterAll(() => system.stop());

const keys = () => system.database.db.selectFrom('demand_keys').selectAll().execute();

test('a false alarm about the version of runners holds jobs back with its reason, and is over when GitHub’s is (C11, P1)', async () => {
  await system.github.setRunnerFaults({ refusesVersions: true });
  for (let job = 0; job < 3; job += 1)
    await system.github.queueJob({ repo: 'acme/shop', labels: ['linux'] });
  await waitFor('the reason', async () =>
    (await keys()).some((key) => key.wait_reason === 'runner_outdated'),
  );
  await system.github.setRunnerFaults({});
  await waitFor('all jobs to end', async () => (await system.github.report()).completed === 3);
  await waitFor('the failures to be forgotten', async () =>
    (await keys()).every(({ failures }) => failures === 0),
  );
  expect(await system.github.report()).toMatchObject({ lost: 0, killed: 0 });
});
