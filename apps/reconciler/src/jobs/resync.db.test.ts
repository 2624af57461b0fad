import { describe, expect, test } from '@jest/globals';
import { done, poison } from '@paddock/queue/outcome';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { useDiscoveryScene } from '../scenes/jobs.scene.ts';

const DAY_MS = 86_400_000;

const database = useTestDatabase();
const scene = useDiscoveryScene(database);

/**
 * The calls of a resync of two runs with news, in order, and how many of their jobs it stores if
 * that call fails.
 */
const CALLS = [
  ['the token', 0],
  ['the repository by its name', 0],
  ...['queued', 'in_progress', 'waiting', 'pending', 'requested'].map(
    (status) => [`the ${status} runs`, 0] as const,
  ),
  ['the jobs of one run', 1],
  ['the jobs of the other run', 1],
  ['the repository as it is when jobs of it are stored', 0],
] as const;

describe('resync of one repository (E2, F5)', () => {
  test('reads all runs, even those read before', async () => {
    await scene.queue('acme/api');
    await scene.discover();
    const [known] = await scene.jobIds();
    const lists = await scene.calls('actions/list-workflow-runs-for-repo');
    await scene.db
      .deleteFrom('jobs')
      .where('job_id', '=', known ?? 0)
      .execute();
    expect(await scene.resync('ACME/api')).toEqual(
      done(
        {
          runs: 1,
          jobs: 1,
          unchanged: 0,
          found: 1,
          inDoubt: 0,
          unanswered: 0,
          isComplete: true,
        },
        [],
      ),
    );
    expect(await scene.jobIds()).toEqual([known]);
    expect(await scene.calls('actions/list-workflow-runs-for-repo')).toBe(lists + 5);
  });

  test('is remembered when it has ended well, for longer than its operation (F4)', async () => {
    const resyncedAt = async () => {
      const row = await scene.db
        .selectFrom('repositories')
        .select('resynced_at')
        .where('full_name', '=', 'acme/api')
        .executeTakeFirst();
      return row?.resynced_at;
    };
    await scene.queue('acme/api');
    await scene.discover();
    await scene.world.github.failNext({ path: '/', status: 502, after: 3 });
    await expect(scene.resync('acme/api')).rejects.toMatchObject({ status: 502 });
    await scene.world.github.clearFaults();
    expect(await resyncedAt()).toBeNull();
    await scene.resync('acme/api');
    expect(await resyncedAt()).toBeInstanceOf(Date);
  });

  test.each(CALLS.map(([call, kept], nth) => ({ call, kept, nth })))(
    'asks for $call, call $nth: on failure it reports that, keeps $kept of two jobs, and finds the rest when it runs again (D14)',
    async ({ nth, kept }) => {
      const jobs = [await scene.queue('acme/api'), await scene.queue('acme/api')];
      await scene.world.github.failNext({ path: '/', status: 502, after: nth });
      await expect(scene.resync('acme/api')).rejects.toMatchObject({ status: 502 });
      expect(await scene.jobIds()).toHaveLength(kept);
      await scene.world.github.clearFaults();
      expect(await scene.resync('acme/api')).toMatchObject({
        outcome: 'done',
        output: { runs: 2, jobs: 2, unanswered: 0, isComplete: true },
      });
      expect(await scene.jobIds()).toEqual(jobs);
    },
  );

  test('makes no other calls', async () => {
    await scene.queue('acme/api');
    await scene.queue('acme/api');
    await scene.world.github.failNext({ path: '/', status: 502, after: CALLS.length });
    expect(await scene.resync('acme/api')).toMatchObject({
      output: { found: 2, isComplete: true },
    });
  });

  test.each([
    ['acme', 'is not a repository'],
    ['missing/at-all', 'none of our Apps is installed on missing'],
    ['acme/nothing', 'GitHub does not show acme/nothing'],
  ])('%s: a sentence', async (name, sentence) => {
    const reason = expect.stringContaining(sentence);
    expect(await scene.resync(name)).toEqual({ ...poison(''), reason });
  });
});

const resync = (activeMs = DAY_MS) =>
  scene.resync(String(scene.world.organization.installationId), {
    turns: { everyMs: 300_000, activeMs },
  });
/** How much a pass reads, and how many lists it finds unchanged. */
const read = async () => {
  const { repositories, unchanged } = await scene.discover();
  return { repositories, unchanged };
};

describe('resync of an installation (E2, F5)', () => {
  test('has discovery read each repository with a push or a known run of late, anew', async () => {
    await scene.queue('acme/api');
    await scene.discover();
    expect(await read()).toMatchObject({ repositories: 0 });
    expect(await resync()).toMatchObject({
      output: { active: 1 },
      followOn: [expect.objectContaining({ kind: 'discover-jobs' })],
    });
    expect(await read()).toEqual({ repositories: 1, unchanged: 0 });
  });

  test.each(['the token', 'the list'])(
    'fails where %s cannot be had, and works when it runs again (D14)',
    async (what) => {
      const after = what === 'the token' ? 0 : 1;
      await scene.world.github.failNext({ path: '/', status: 502, after });
      await expect(resync()).rejects.toMatchObject({ status: 502 });
      expect(await resync()).toMatchObject({ output: { repositories: expect.any(Number) } });
    },
  );

  test('of an installation that no App of ours has is a sentence', async () => {
    const { installationId } = scene.world.organization;
    const others = await scene.resync(String(installationId), { appIds: [1] });
    const each = [
      ['7', await scene.resync('7')],
      [String(installationId), others],
    ] as const;
    for (const [id, outcome] of each)
      expect(outcome).toEqual(
        poison(`no App of ours has the installation ${id}, or it is suspended`),
      );
  });
});
