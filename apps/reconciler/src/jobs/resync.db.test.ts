import { describe, expect, test } from '@jest/globals';
import { done, poison } from '@paddock/queue/kind';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { useDiscoveryScene } from '../scenes/jobs.scene.ts';

const database = useTestDatabase();
const scene = useDiscoveryScene(database);

/**
 * The calls of a resync of two runs with news, in order, and how many of their jobs it stores if
 * that call fails.
 */
const STATUSES = ['queued', 'in_progress', 'waiting', 'pending', 'requested'];
const CALLS = [
  ['the token', 0],
  ['the repository by its name', 0],
  ...STATUSES.map((status) => [`the ${status} runs`, 0] as const),
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
    await scene.db.deleteFrom('jobs').execute();
    const none = { unchanged: 0, inDoubt: 0, unanswered: 0 };
    const output = { runs: 1, jobs: 1, found: 1, ...none, isComplete: true };
    expect(await scene.resync('ACME/api')).toEqual(done(output, []));
    expect(await scene.jobIds()).toEqual([known]);
    expect(await scene.calls('actions/list-workflow-runs-for-repo')).toBe(lists + 5);
  });

  test.each(CALLS.map(([call, kept], nth) => ({ call, kept, nth })))(
    'asks for $call, call $nth: on failure it reports that, keeps $kept of two jobs, and finds the rest when it runs again (D14)',
    async ({ nth, kept }) => {
      const rows = scene.db.selectFrom('repositories').select('resynced_at');
      const resyncedAt = () => rows.executeTakeFirst();
      const jobs = [await scene.queue('acme/api'), await scene.queue('acme/api')];
      await scene.world.github.failNext({ path: '/', status: 502, after: nth });
      await expect(scene.resync('acme/api')).rejects.toMatchObject({ status: 502 });
      expect(await scene.jobIds()).toHaveLength(kept);
      expect((await resyncedAt())?.resynced_at ?? null).toBeNull();
      await scene.world.github.clearFaults();
      const output = { runs: 2, jobs: 2, unanswered: 0, isComplete: true };
      expect(await scene.resync('acme/api')).toMatchObject({ outcome: 'done', output });
      expect(await scene.jobIds()).toEqual(jobs);
      // For longer than its operation (F4).
      expect(await resyncedAt()).toEqual({ resynced_at: expect.any(Date) });
    },
  );

  test.each([
    ['acme', 'is not a repository'],
    ['missing/at-all', 'none of our Apps is installed on missing'],
    ['acme/nothing', 'GitHub does not show acme/nothing'],
  ])('%s: a sentence', async (name, sentence) => {
    const reason = expect.stringContaining(sentence);
    expect(await scene.resync(name)).toEqual({ ...poison(''), reason });
  });
});

const sentence = (id: number) =>
  poison(`no App of ours has the installation ${id}, or it is suspended`);
const resync = () => scene.resync(String(scene.world.organization.installationId));
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
    expect(await scene.resync('7')).toEqual(sentence(7));
    const others = await scene.resync(String(installationId), { appIds: [1] });
    expect(others).toEqual(sentence(installationId));
  });
});
