import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { GitHub } from '@paddock/github/connect';
import { connectSmallWorld } from '@paddock/github/scenes/small-world.scene';
import { putJob, putPools } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { useDiscoveryScene } from '../scenes/jobs.scene.ts';
import { UNCHANGED_AT_MOST } from './list-runs.ts';

const scene = useDiscoveryScene(useTestDatabase());

const hosted = { hosted: true, durationMs: 3_600_000 };

describe('jobs that no delivery has announced (E2)', () => {
  test('a queued one in a repository of an installation that is new is demand, at once', async () => {
    const ours = await scene.queue('acme/api');
    await scene.queue('acme/api', { labels: ['windows'] });
    const monas = await scene.queue('mona/tool');
    const repositories = { listed: 2, repositories: 3, resting: 1 };
    const jobs = { runs: 3, jobs: 3, unanswered: 0, incomplete: 0 };
    expect(await scene.discover()).toMatchObject({ ...repositories, ...jobs });
    expect(await scene.jobIds()).toEqual([ours, monas]);
    expect(await scene.row(ours)).toMatchObject({
      status: 'pending',
      wants_worker: true,
      entity_name: 'acme',
      repo_full_name: 'acme/api',
      scope_repo_id: 0,
    });
    const { tool } = scene.world.repositories;
    expect(await scene.row(monas)).toMatchObject({ entity_name: 'mona', scope_repo_id: tool });
    const stored = { event: 'discovered.queued', outcome: 'job_stored' };
    const events = (await scene.events()).toSorted((a, b) => Number(a.job_id) - Number(b.job_id));
    expect(events).toEqual([ours, monas].map((job_id) => Object.assign({ job_id }, stored)));
  });

  test('one that runs on a worker whose pool does not serve it is bound to it, and told (B7, B10)', async () => {
    await putPools(scene.db, { pools: [{ entities: ['beta'] }] });
    const name = await scene.startRunner();
    const job = await scene.queue('acme/api', { durationMs: 3_600_000 });
    await scene.discover();
    expect(await scene.row(job)).toMatchObject({ status: 'running', k8s_pod: name });
    expect(await scene.events()).toEqual([
      { event: 'discovered.in_progress', outcome: 'worker_misused', job_id: job },
    ]);
    expect(scene.told('workersMisused')).toMatchObject([[[{ jobId: job, isMisused: true }]]]);
    const worker = await scene.db.selectFrom('workers').select('stopping_at').executeTakeFirst();
    expect(worker).toEqual({ stopping_at: null });
  });

  test.each([
    ['is asked for there', { wants_worker: true }],
    [
      'no longer asked for, because GitHub hid it',
      { wants_worker: false, hidden_since: new Date(0) },
    ],
  ])(
    'a waiting one whose repository has moved here, and that %s, waits here (P1)',
    async (_how, row) => {
      const { id: entity_id } = scene.world.user;
      const job = await scene.addJob({
        row: { entity_id, entity_name: 'mona', entity_type: 'User', ...row },
      });
      const before = await scene.row(job);
      await scene.discover();
      const here = { entity_name: 'acme', entity_type: 'Organization', scope_repo_id: 0 };
      expect(await scene.row(job)).toMatchObject({
        ...here,
        status: 'pending',
        wants_worker: true,
        hidden_since: null,
      });
      expect((await scene.row(job)).demand_key).not.toBe(before.demand_key);
      const told = { event: 'discovered.queued', outcome: 'job_facts_added', job_id: job };
      expect(await scene.events()).toEqual([told]);
      await scene.discover();
      expect(await scene.events()).toHaveLength(1);
    },
  );

  test('a known one that GitHub runs is running; one that we run and GitHub calls queued is looked up', async () => {
    const waits = await scene.addJob({ job: hosted, row: { lookup_due_at: null } });
    const running = { status: 'running', wants_worker: false } as const;
    const runs = await scene.addJob({ row: { lookup_due_at: null, ...running } });
    expect(await scene.discover()).toMatchObject({ found: 1, inDoubt: 1 });
    expect(await scene.row(waits)).toMatchObject(running);
    expect(await scene.row(runs)).toMatchObject({ ...running, lookup_due_at: expect.any(Date) });
  });

  test('one that is no demand because GitHub hid it is looked up at once, when GitHub calls it queued and when GitHub lists its repository again (P1)', async () => {
    const listed_at = new Date(Date.now() + 60_000);
    const lookup_due_at = new Date(Date.now() + 3_600_000);
    await scene.setInstallation({ listed_at });
    const hidden = { wants_worker: false, hidden_since: new Date(0), lookup_due_at };
    const job = await scene.addJob({ row: hidden });
    expect(await scene.discover()).toMatchObject({ repositories: 0 });
    for (const installation of [{ listed_at }, { listed_at: null }]) {
      await scene.passMinutes(6);
      await scene.setJobs({ lookup_due_at });
      await scene.setInstallation(installation);
      expect(await scene.discover()).toMatchObject({ inDoubt: 1 });
      expect((await scene.row(job)).lookup_due_at).not.toEqual(lookup_due_at);
    }
    expect(await scene.lookUp()).toMatchObject({ requeued: 1 });
  });

  test('jobs in a run that waits for another one’s approval are found, on all pages', async () => {
    const first = await scene.queue('acme/api', { waiting: true });
    const runId = await scene.runOf(first);
    const queued = [];
    for (let index = 0; index < 110; index++) queued.push(await scene.queue('acme/api', { runId }));
    for (let index = 0; index < 105; index++) queued.push(await scene.queue('acme/api'));
    // The newest runs come first, a hundred of them.
    expect(await scene.discover()).toMatchObject({ runs: 106, found: 100, incomplete: 1 });
    await scene.passMinutes(6);
    expect(await scene.discover()).toMatchObject({ runs: 106, found: 115, incomplete: 1 });
    expect(await scene.jobIds()).toEqual(queued);
  });
});

describe('when GitHub fails', () => {
  const calls = Array.from({ length: 24 }, (_, nth) => nth);
  test.each(calls)('on call %d, the next passes find the jobs', async (after) => {
    const jobs = [await scene.queue('acme/api'), await scene.queue('mona/tool')];
    await scene.world.github.failNext({ path: '/', status: 502, after });
    for (let pass = 0; pass < 3; pass++) {
      await scene.discover();
      await scene.world.github.clearFaults();
      await scene.passMinutes(6);
    }
    expect(await scene.jobIds()).toEqual(jobs);
  });

  test('refuses an entity: one call is made, the refusal is stored, and other entities continue (C9)', async () => {
    await scene.queue('acme/api');
    const monas = await scene.queue('mona/tool');
    await scene.discover({ appIds: [] });
    await scene.world.github.suspend(scene.world.organization.installationId);
    expect(await scene.discover()).toMatchObject({ listed: 1, unanswered: 1, repositories: 1 });
    expect(await scene.jobIds()).toEqual([monas]);
    expect(scene.unanswered()).toEqual(['forbidden']);
    expect((await scene.events()).map(({ event }) => event)).toContain('auth_attempt.other_error');
    expect(await scene.discover()).toMatchObject({ listed: 0, unanswered: 0 });
    await scene.world.github.unsuspend(scene.world.organization.installationId);
    await scene.setInstallation({ updated_at: new Date() }, 'acme');
    expect(await scene.discover()).toMatchObject({ listed: 1, found: 1 });
  });

  test('a renamed repository is found by its id; a repository that is no longer visible changes nothing (A12)', async () => {
    const job = await scene.queue('acme/api');
    await scene.queue('mona/tool');
    await scene.setInstallation({ listed_at: new Date(Date.now() + 60_000) });
    const { organization, appId, repositories } = scene.world;
    const active = { entity_id: organization.id, app_id: appId, active_at: new Date() };
    const rows = [
      { ...active, repo_id: repositories.api, full_name: 'acme/of-old' },
      { ...active, repo_id: 999, full_name: null },
    ];
    await scene.db.insertInto('repositories').values(rows).execute();
    expect(await scene.discover()).toMatchObject({ repositories: 1, unanswered: 1 });
    expect(scene.unanswered()).toEqual(['invisible']);
    expect(await scene.jobIds()).toEqual([job]);
    const known = scene.db.selectFrom('repositories').orderBy('repo_id');
    expect(await known.select('full_name').execute()).toEqual([
      { full_name: null },
      { full_name: 'acme/api' },
    ]);
  });
});

test('a repository whose former name another one has now is read as itself: the jobs of the other are not its own (A12)', async () => {
  const job = await scene.queue('acme/api');
  await scene.queue('acme/site');
  await scene.setInstallation({ listed_at: new Date(Date.now() + 60_000) });
  const { organization, appId, repositories } = scene.world;
  const former = { repo_id: repositories.api, full_name: 'acme/site', active_at: new Date() };
  await scene.db
    .insertInto('repositories')
    .values({ ...former, entity_id: organization.id, app_id: appId })
    .execute();
  expect(await scene.discover()).toMatchObject({ repositories: 1, found: 1 });
  expect(await scene.jobIds()).toEqual([job]);
});

const TOO_LONG = randomBytes(4_000).toString('hex');

test.each<[string, object]>([
  ['an instant that is none', { pushed_at: 'soon' }],
  ['an id that no number holds', { id: 2 ** 64 }],
  ['a name that no index holds', { name: TOO_LONG }],
])(
  'an entity whose repository GitHub lists with %s keeps no other from being read (P6)',
  async (_what, odd) => {
    const monas = await scene.queue('mona/tool');
    const { installationId } = scene.world.organization;
    const named = { id: 1, name: 'api', owner: { login: 'acme' }, private: true };
    const body = { total_count: 1, repositories: [{ ...named, ...odd }] };
    const caller = `installation ${installationId}`;
    const path = '^/installation/repositories$';
    await scene.world.github.failNext({ caller, path, status: 200, body, times: 1_000 });
    expect(await scene.discover()).toMatchObject({ repositories: 1, found: 1 });
    expect(await scene.jobIds()).toEqual([monas]);
  },
);

test('a job whose repository has a name that no index holds keeps no other from being discovered (P6)', async () => {
  const monas = await scene.queue('mona/tool');
  await putJob(scene.db, { job_id: 1, repo_full_name: `acme/${TOO_LONG}` });
  expect(await scene.discover()).toMatchObject({ found: 1 });
  expect(await scene.jobIds()).toEqual([1, monas]);
});

test('a run whose jobs GitHub does not show leaves the other runs of its repository alone, is counted, and is found once GitHub answers (E2)', async () => {
  const before = await scene.queue('acme/api');
  const broken = await scene.queue('acme/api');
  const path = `/runs/${await scene.runOf(broken)}/jobs`;
  await scene.world.github.failNext({ path, status: 502, times: 1_000 });
  const after = await scene.queue('acme/api');
  const counts = { repositories: 3, runs: 3, found: 2, unanswered: 1, incomplete: 1 };
  expect(await scene.discover()).toMatchObject(counts);
  expect(await scene.jobIds()).toEqual([before, after]);
  expect(scene.unanswered()).toEqual(['unavailable']);
  await scene.world.github.clearFaults();
  await scene.passMinutes(6);
  expect(await scene.discover()).toMatchObject({ found: 1, unanswered: 0, incomplete: 0 });
  expect(await scene.jobIds()).toEqual([before, broken, after]);
});

test('a repository for which GitHub does not answer lets the others have their turn first (E2)', async () => {
  for (const repo of ['acme/api', 'acme/site']) await scene.queue(repo);
  await scene.discover();
  await scene.passMinutes(10);
  await scene.world.github.failNext({ path: '/acme/api/actions/runs$', status: 502, times: 1_000 });
  const config = { readsOfMinute: 1 };
  expect(await scene.discover({ config })).toMatchObject({ unanswered: 1 });
  expect(await scene.discover({ config })).toMatchObject({ unanswered: 0, repositories: 1 });
});

const look = async (given?: Parameters<typeof scene.discover>[0]) => {
  await scene.passMinutes(6);
  return scene.discover(given);
};

describe('a job that joins a known run without a delivery (E2, P1)', () => {
  test('is found although no list of runs changes: an approval lets it go', async () => {
    const works = await scene.queue('acme/api', hosted);
    const waits = await scene.queue('acme/api', { runId: await scene.runOf(works), waiting: true });
    await scene.discover();
    expect(await scene.jobIds()).toEqual([works]);
    await scene.world.github.approveJob(waits);
    expect(await look()).toMatchObject({ unchanged: 7, found: 1 });
    expect(await scene.row(waits)).toMatchObject({ status: 'pending', wants_worker: true });
  });

  test('is found in a run that is not among the newest hundred', async () => {
    const oldest = await scene.queue('acme/api', hosted);
    const runId = await scene.runOf(oldest);
    const waits = await scene.queue('acme/api', { runId, waiting: true });
    for (let index = 0; index < 100; index++) await scene.queue('acme/api', hosted);
    await scene.discover();
    await look();
    await scene.world.github.approveJob(waits);
    for (let turn = 0; turn < 2; turn++) await look();
    expect(await scene.row(waits)).toMatchObject({ status: 'pending', wants_worker: true });
  });
});

describe('the cost of known runs (E2, P4)', () => {
  test('a run’s jobs cost a call when they have changed, and otherwise once in twelve looks: an ETag is not trusted for ever', async () => {
    await scene.queue('acme/api');
    await scene.discover();
    const before = scene.remaining();
    for (let turn = 0; turn < UNCHANGED_AT_MOST; turn++)
      expect(await look()).toMatchObject({ jobs: 0 });
    expect(scene.remaining()).toBe(before);
    expect(await look()).toMatchObject({ jobs: 1, found: 0 });
    expect(scene.remaining()).toBe(before - 1);
  });

  test('jobs that cannot be read are read again at the next look', async () => {
    const job = await scene.queue('acme/api', { jobName: 'odd' });
    await scene.discover({ appIds: [] });
    const said: { labels: unknown } = { labels: 'none' };
    const github = sayingOf(job, said);
    expect(await scene.discover({ github })).toMatchObject({ found: 0, incomplete: 1 });
    said.labels = ['linux'];
    expect(await look({ github })).toMatchObject({ found: 1 });
    expect(await scene.jobIds()).toEqual([job]);
  });
});

/** A GitHub whose lists of jobs say something else of one job. */
function sayingOf(jobId: number, changes: object): GitHub {
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const answer = await globalThis.fetch(input, init);
    if (!new URL(answer.url).pathname.endsWith('/jobs')) return answer;
    const body = JSON.parse(await answer.text()) as { jobs: { id: number }[] };
    for (const job of body.jobs) if (job.id === jobId) Object.assign(job, changes);
    return new Response(JSON.stringify(body), answer);
  };
  return connectSmallWorld(scene.world, { fetch });
}

test('characters that JSONB cannot hold keep no job from being discovered, nor the others (B9, E2)', async () => {
  const hostile = await scene.queue('acme/api');
  const other = await scene.queue('mona/tool');
  const said = { name: 'a\u0000b\ud800', runner_name: '\u0000', labels: ['linux'] };
  const counts = { found: 2, unanswered: 0, incomplete: 0 };
  expect(await scene.discover({ github: sayingOf(hostile, said) })).toMatchObject(counts);
  expect(await scene.jobIds()).toEqual([hostile, other]);
  const name = 'a\ufffdb\ufffd';
  expect(await scene.row(hostile)).toMatchObject({ job_name: name, status: 'pending' });
  const { rows } = await sql`
    select payload_repaired as repaired, payload->'workflow_job'->>'name' as name from installation_events
    where job_id = ${hostile}`.execute(scene.db);
  expect(rows).toEqual([{ repaired: true, name }]);
});

test.each([
  ['other runs', () => Promise.resolve({}), { stated: 1, unanswered: 1 }],
  ['its run', async (odd: number) => ({ runId: await scene.runOf(odd) }), { stated: 1, runs: 1 }],
])(
  'an answer for a job that lacks a necessary field leaves the jobs of %s alone, and comes to its turn again (E4)',
  async (_which, place, counts) => {
    const odd = await scene.addJob();
    const other = await scene.addJob({ job: await place(odd) });
    for (const job of [odd, other]) await scene.world.github.cancelJob(job);
    const given = { github: sayingOf(odd, { name: null }) };
    expect(await scene.lookUp(given)).toMatchObject(counts);
    expect(await scene.row(other)).toMatchObject({ status: 'completed' });
    const due = { status: 'pending', lookup_due_at: expect.any(Date) };
    expect(await scene.row(odd)).toMatchObject(due);
  },
);

test('a job whose conclusion GitHub’s answer lacks has not ended, nor one that a page hides (P6, A5)', async () => {
  const job = await scene.addJob();
  const goesOn = { status: 'running', conclusion: null };
  const lacking = { github: sayingOf(job, { conclusion: undefined, status: 'in_progress' }) };
  expect(await scene.lookUp(lacking)).toMatchObject({ stated: 1, unanswered: 0 });
  expect(await scene.row(job)).toMatchObject(goesOn);
  const hidden = { github: connectSmallWorld(scene.world, { fetch: behindPage }) };
  await scene.db
    .updateTable('jobs')
    .set({ lookup_due_at: new Date(0) })
    .execute();
  expect(await scene.lookUp(hidden)).toMatchObject({ gone: 0, failed: 0, unanswered: 1 });
  expect(await scene.row(job)).toMatchObject(goesOn);
});

/** Something before GitHub that has a page of its own for runs and jobs. */
const behindPage: typeof globalThis.fetch = async (input, init) => {
  const answer = await globalThis.fetch(input, init);
  if (!new URL(answer.url).pathname.includes('/actions/')) return answer;
  await answer.text();
  return new Response('no such page', { status: 404 });
};
