import { useTestDatabase } from '@paddock/testing/use-test-database';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { useDiscoveryScene } from '../scenes/use-scenes.scene.ts';
import { createAllowance } from './call-allowance.ts';
import { RESTING_PART } from './discover-jobs.ts';
import { reconcilerRules } from '../rules.ts';
import { READS_OF_A_MINUTE, readsOfPass } from './job-sweeps.ts';

const scene = useDiscoveryScene(useTestDatabase());
const LIST = 'actions/list-workflow-runs-for-repo';
const budgetPercent = reconcilerRules.discoverBudgetPercent.value;
/** GitHub's calls an hour for an installation, by its number of repositories. */
const limitOf = (repositories: number) =>
  Math.min(5_000 + 50 * Math.max(0, repositories - 20), 12_500);

/** A minute's pass over acme's repositories, with the settings in force. */
const pass = async () => {
  const counts = await scene.discover({ most: readsOfPass(60), budgetPercent, atOnce: 8 });
  await scene.passMinutes(1);
  return counts;
};

async function putRepositories(count: number): Promise<void> {
  const { world, db } = scene;
  for (let n = 0; n < count; n++)
    await world.github.addRepository({ owner: 'acme', name: `part-${n}` });
  const caller = { installationId: world.organization.installationId };
  const limit = limitOf(count);
  await world.github.setRateLimit({ caller, resource: 'core', limit, remaining: limit });
  await scene.discover({ most: 0 });
  await db
    .updateTable('installations')
    .set({ listed_at: new Date(Date.now() + 86_400_000) })
    .execute();
}

/**
 * The minutes of a round if each read costs a call: a round that takes longer than an hour has no
 * ETag of a valid token. Once a day five more calls read all lists of a repository.
 */
const minutesOf = (repositories: number): number => {
  const limit = limitOf(repositories);
  let remaining = limit;
  let [read, minutes, owed] = [0, 0, 0];
  for (; read < repositories; minutes++) {
    if (minutes % 60 === 0) remaining = limit;
    const allowance = createAllowance(
      () => ({ limit, remaining, resetAt: Infinity }),
      budgetPercent * RESTING_PART,
    );
    owed += (5 * repositories) / 1_440;
    for (let n = 0; n < READS_OF_A_MINUTE && read < repositories; n++) {
      if (!allowance.take()) break;
      remaining--;
      if (owed >= 1) {
        owed--;
        n--;
      } else read++;
    }
  }
  return minutes;
};

const unread = async () => {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer from repositories where looked_at is null`.execute(scene.db);
  return rows[0]?.count;
};

describe('a round over all repositories of an installation (E2, P4)', () => {
  test('of 100 takes five minutes, with one call for each, which is free while nothing changes', async () => {
    await putRepositories(100);
    await pass();
    for (let minute = 1; minute < 5; minute++) await pass();
    expect(await unread()).toBe(0);
    const remaining = () =>
      scene.github.budgetOf(scene.world.organization.installationId)?.remaining;
    const [before, calls] = [remaining(), await scene.calls(LIST)];
    for (let minute = 0; minute < 5; minute++) await pass();
    expect((await scene.calls(LIST)) - calls).toBe(103);
    expect(remaining()).toBe(before);
    // No delivery announced this job.
    const lost = await scene.queue('acme/part-42', { event: 'schedule' });
    for (let minute = 0; minute < 5; minute++) await pass();
    expect(await scene.jobIds()).toEqual([lost]);
  }, 300_000);

  test('of 1 000 takes ten minutes, also the first one, and no more than 100 calls in any of them', async () => {
    await putRepositories(1_000);
    const minutes: number[] = [];
    let calls = await scene.calls(LIST);
    while ((await unread()) !== 0) {
      await pass();
      const now = await scene.calls(LIST);
      minutes.push(now - calls);
      calls = now;
    }
    expect(minutes.length).toBeLessThanOrEqual(12);
    expect(Math.max(...minutes)).toBeLessThanOrEqual(READS_OF_A_MINUTE + 1);
  }, 300_000);

  test('takes what docs/reconciler.md says where each call costs: 10 000 within five hours', () => {
    expect(minutesOf(100)).toBeLessThanOrEqual(5);
    expect(minutesOf(1_000)).toBeLessThanOrEqual(30);
    expect(minutesOf(10_000)).toBeLessThanOrEqual(300);
  });
});
