import { useTestDatabase } from '@paddock/testing/use-test-database';
import { describe, expect, test } from '@jest/globals';
import { useDiscoveryScene } from '../scenes/use-scenes.scene.ts';

const scene = useDiscoveryScene(useTestDatabase());

/** Queues a job with a run for which GitHub answers every caller with 502. */
async function queueInBrokenRun(): Promise<number> {
  const job = await scene.queue('acme/api');
  const { runId = 0 } = (await scene.world.github.truth()).jobs.find(({ id }) => id === job) ?? {};
  await scene.world.github.failNext({ path: `/runs/${runId}/jobs`, status: 502, times: 1_000 });
  return job;
}

describe('a run whose jobs GitHub does not show (E2)', () => {
  test('leaves the other runs of its repository alone, is counted, and is found once GitHub answers', async () => {
    const before = await scene.queue('acme/api');
    const broken = await queueInBrokenRun();
    const after = await scene.queue('acme/api');
    expect(await scene.discover()).toMatchObject({
      repositories: 3,
      runs: 3,
      found: 2,
      unanswered: 1,
      incomplete: 1,
    });
    expect(await scene.jobIds()).toEqual([before, after]);
    expect(scene.unanswered).toEqual(['unavailable']);
    await scene.world.github.clearFaults();
    await scene.passMinutes(6);
    expect(await scene.discover()).toMatchObject({ found: 1, unanswered: 0, incomplete: 0 });
    expect(await scene.jobIds()).toEqual([before, broken, after]);
  });

  test('comes after the others at the next look: three of them stop a pass, and no other run waits for them', async () => {
    for (let index = 0; index < 3; index++) await queueInBrokenRun();
    const fine = [await scene.queue('acme/api'), await scene.queue('acme/api')];
    // At any place of GitHub's list: the second look asks about the others first.
    for (let pass = 0; pass < 2; pass++) {
      await scene.discover();
      await scene.passMinutes(6);
    }
    expect(await scene.jobIds()).toEqual(fine);
  });

  test('a resync writes the answers that it gets, and fails because of the others', async () => {
    await queueInBrokenRun();
    const fine = await scene.queue('acme/api');
    await expect(scene.resync('acme/api')).rejects.toMatchObject({ status: 502 });
    expect(await scene.jobIds()).toEqual([fine]);
  });
});

test('a repository for which GitHub does not answer lets the others have their turn first (E2)', async () => {
  for (const repo of ['acme/api', 'acme/site']) await scene.queue(repo);
  await scene.discover();
  await scene.passMinutes(10);
  await scene.world.github.failNext({ path: '/acme/api/actions/runs$', status: 502, times: 1_000 });
  expect(await scene.discover({ most: 1 })).toMatchObject({ unanswered: 1 });
  expect(await scene.discover({ most: 1 })).toMatchObject({ unanswered: 0, repositories: 1 });
});
