import { beforeEach, describe, expect, test } from '@jest/globals';
import { findOperationEndpoint } from '@paddock/api/operations/operation';
import { listDiagnosesEndpoint } from '@paddock/api/diagnoses/list-diagnoses';
import { tryAgainEndpoint } from '@paddock/api/diagnoses/try-again';
import { ask } from '@paddock/api/scenes/ask.scene';
import { turnSwitchEndpoint } from '@paddock/api/switches/switches';
import { drainEndpoint } from '@paddock/api/workers/drain';
import { runCommand } from '@paddock/cli/run-command';
import { makeToken, useConsole } from '@paddock/console/scenes/console.scene';
import { type Outcome, poison } from '@paddock/queue/kind';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { useSweeps } from '@paddock/reconciler/scenes/sweeps.scene';
import {
  useFollowedPods,
  useSchedulerWorld,
  useStopScene,
} from '@paddock/scheduler/scenes/use-scheduler-world.scene';
import { installationOf } from '@paddock/simulators/scenes/small-world.scene';
import { putInstallation, putPools } from '@paddock/testing/demand-rows';
import { emptyTables } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { type Page, show, signIn, usePages } from './scenes/browser.scene.ts';

/** As much of the answers as the questions below need. */
interface Said {
  readonly id: string;
  readonly status: string;
  readonly lastSync: { readonly status: string; readonly operation: string | null };
  readonly items: readonly {
    readonly id: string;
    readonly kind: string;
    readonly status: string;
    readonly outcome: string;
    readonly ended: number;
  }[];
}

const SUBJECT = 'repository:acme/api';

/** A question, as the API and as the terminal take it. */
type Ask = (path: string, words: string) => Promise<Said>;

/** What the API or the terminal says of a resync of acme/api. */
async function said(put: Ask, id: string) {
  const { status } = await put(`operations/${id}`, `operation ${id}`);
  const { items } = await put(`operations?subject=${SUBJECT}`, `operations ${SUBJECT}`);
  const counts = await put('operations/counts?from=-24h', 'operations counts --from -24h');
  const { lastSync } = await put('repositories/acme/api', 'repository acme/api');
  const many = (of: string) =>
    counts.items
      .filter(({ kind, outcome }) => kind === 'discover-jobs' && outcome === of)
      .reduce((all, { ended }) => all + ended, 0);
  return {
    status,
    list: items.map((one) => `${one.id} ${one.status}`),
    counts: [many('OK'), many('ERROR')],
    lastSync: `${lastSync.operation} ${lastSync.status}`,
  };
}

/** What the page says of the same. */
async function shown(page: Page, id: string) {
  const read = async (path: string, script: string) => {
    await show(page, path);
    return page.evaluate<unknown>(`{
      const of = (row) => row.querySelector('a').href.split('/').pop() + ' ' + row.querySelector('.chip').textContent;
      const all = (selector) => [...document.querySelectorAll(selector)];
      const begins = (text) => (one) => one.textContent.startsWith(text);
      ${script} }`);
  };
  return {
    status: await read(`/operations/${id}`, `all('.heading .chip')[0].textContent`),
    list: await read(`/operations?subject=${SUBJECT}`, `all('tbody tr').map(of)`),
    counts: await read(
      '/operations',
      `const row = all('tr:has([data-name=Failed])').find(begins('discover-jobs'));
      ['OK', 'Failed'].map((name) => Number(row?.querySelector('[data-name=' + name + ']').textContent ?? 0))`,
    ),
    lastSync: await read(
      '/repositories/acme/api',
      `of(all('.facts > div').find(begins('Last resync')))`,
    ),
  };
}

describe('the reconciler does what people ask the console for (F1, F5)', () => {
  const { database, service } = useConsole();
  const pageOf = usePages();
  const sweeps = useSweeps(database);

  beforeEach(async () => {
    const { db } = database;
    const { appId, organization } = sweeps.scene.world;
    await sql`truncate actions`.execute(db);
    await putPools(db);
    await putInstallation(db, installationOf(organization));
    await db
      .insertInto('schedules')
      .values({ name: `redeliver:${appId}`, last_tick_at: new Date() })
      .execute();
  });

  const find = (operation: string) => ask(findOperationEndpoint, database.db, { operation });

  /** Runs what is due, as the reconciler does; a resync as `then` says, in the midst of its run. */
  async function run(then?: () => Promise<Outcome | undefined>) {
    const { 'discover-jobs': resync, ...others } = sweeps.kinds;
    if (resync === undefined) throw new Error('no sweep discovers jobs');
    const handler: typeof resync.handler = async (...given) =>
      (await then?.()) ?? resync.handler(...given);
    const kinds = { ...others, 'discover-jobs': { ...resync, handler } };
    await runDueTasks({ db: database.dbOf('reconciler'), kinds });
  }

  test('a resync answers all along, the same by API, terminal and page, and leads to its end', async () => {
    const { world } = sweeps.scene;
    const { id: jobId } = await world.github.queueJob({ repo: 'acme/api', labels: ['linux'] });
    const repository = { repo_id: world.repositories.api, full_name: 'acme/api' };
    const owner = { entity_id: world.organization.id, app_id: world.appId, active_at: new Date() };
    await database.db
      .insertInto('repositories')
      .values({ ...repository, ...owner })
      .execute();
    const token = await makeToken(database, { name: 'ada' });
    const subject = { owner: 'acme', repository: 'api' };
    const narrowed = { name: 'ci', endpoint: 'resyncRepository', subject };
    const ci = await makeToken(database, narrowed);
    const terminal = async (words: string, by = token) => {
      const url = `http://127.0.0.1:${service.port}`;
      return runCommand([...words.split(' '), '--json'], { PADDOCK_URL: url, PADDOCK_TOKEN: by });
    };
    const answer = async (path: string) => (await service.ask(path, token)).json() as Promise<Said>;
    const printed = async (_: string, words: string) =>
      JSON.parse((await terminal(words)).stdout) as Said;
    const page = await pageOf(await signIn(service, token));

    // A token for one resync of one repository starts that, follows it, and does nothing else.
    const post = { method: 'POST', body: JSON.stringify({ note: 'it does not start' }) };
    const asked = await service.ask('repositories/acme/api/resync', ci, post);
    const { id } = (await asked.json()) as { id: string };
    expect(JSON.parse((await terminal(`operation ${id}`, ci)).stdout)).toMatchObject({ id });
    for (const words of ['jobs', 'resync acme/web', 'repository acme/api'])
      expect([words, (await terminal(words, ci)).code]).toEqual([words, 1]);

    const seen: string[] = [];
    const compare = async (ofId = id) => {
      const byApi = await said(answer, ofId);
      expect(await said(printed, ofId)).toEqual(byApi);
      expect(page === undefined ? byApi : await shown(page, ofId)).toEqual(byApi);
      expect(byApi.lastSync).toBe(`${ofId} ${byApi.status}`);
      expect(byApi.list[0]).toBe(byApi.lastSync);
      seen.push(`${byApi.status} of ${byApi.list.length}, ${byApi.counts.join(' + ')} ended`);
      return undefined;
    };
    await compare();
    await run(compare);
    await compare();
    expect(await find(id)).toMatchObject({
      requestedBy: 'token ci',
      askers: [{ person: 'token ci', note: 'it does not start' }],
      output: { runs: 1, found: 1, isComplete: true },
    });
    const jobs = await database.db.selectFrom('jobs').select('job_id').execute();
    expect(jobs).toEqual([{ job_id: jobId }]);

    const failing = JSON.parse((await terminal('resync acme/api')).stdout) as Said;
    await run(() => Promise.resolve(poison('GitHub does not show it')));
    await compare(failing.id);
    expect(seen).toEqual([
      'QUEUED of 1, 0 + 0 ended',
      'RUNNING of 1, 0 + 0 ended',
      'OK of 1, 1 + 0 ended',
      'ERROR of 2, 1 + 1 ended',
    ]);

    if (page === undefined) return;
    await page.getByRole('button', { name: 'Resync …' }).click();
    await page.getByRole('button', { name: 'Resync', exact: true }).click();
    const news = page.getByRole('dialog').getByRole('status');
    await news.getByText('It waits for a free place').waitFor();
    await run();
    await news.getByText('It is done: ').waitFor();
    await page.getByRole('link', { name: 'Its operation', exact: true }).click();
    await page.getByText('It is done: ').waitFor();
  });
});

describe('what people drain ends by the scheduler’s proofs (F5, E5)', () => {
  const world = useSchedulerWorld();
  const scene = useStopScene(world);
  beforeEach(() => emptyTables(world.db, ['actions', 'switches', 'operations']));

  const find = (operation: string) => ask(findOperationEndpoint, world.db, { operation });

  test('an idle worker ends, with its operation', async () => {
    const worker = await scene.idleWorker();
    const given = { of: 'worker', name: worker, note: 'a bad node' };
    const asked = await ask(drainEndpoint, world.db, given);
    expect(asked).toMatchObject({ kind: 'stop-worker', subject: { id: worker }, status: 'QUEUED' });
    await scene.letEnd(worker);
    expect(await scene.row(worker)).toMatchObject({ stop_reason: 'drained' });
    expect((await scene.row(worker)).completed_at).not.toBeNull();
    expect(await scene.runner(worker)).toBeUndefined();
    expect(await find(asked.id)).toMatchObject({ origin: 'MANUAL', requestedBy: 'ada' });
  });

  test('of a pool the idle ones end, the busy one works on, and none is made until it is resumed', async () => {
    const { podName: busy, jobId } = await scene.busyWorker();
    const idle = await scene.idleWorker();
    await world.db
      .updateTable('workers')
      .set({ assigned_at: new Date(), assigned_job_id: jobId })
      .where('pod_name', '=', busy)
      .execute();
    const drained = await ask(drainEndpoint, world.db, { of: 'pool', name: 'linux' });
    expect(drained).toMatchObject({ status: 'OK', output: { stopping: 1, busy: 1 } });
    const waiting = await world.queueJob();
    await world.match();
    await scene.letEnd(idle);
    expect(await scene.row(idle)).toMatchObject({ stop_reason: 'drained' });
    expect((await scene.row(idle)).completed_at).not.toBeNull();
    await scene.expectWorking(busy, jobId);
    await world.match();
    const madeFor = async () => (await world.workers()).map((row) => row.made_for_job_id);
    expect(await madeFor()).not.toContain(waiting);
    await ask(turnSwitchEndpoint, world.db, { how: 'resume', subject: 'pool:linux' });
    await world.match();
    expect(await madeFor()).toContain(waiting);
  });
});

/** GitHub's answer to the first registrations, and the cause that the board names then. */
const REFUSED = [
  { status: 502, name: 'workers_failing' },
  { status: 403, name: 'installation_refused' },
] as const;

describe('what a person has tried again is tried at once (F5, P5)', () => {
  const world = useSchedulerWorld({ playRunners: false });
  const pods = useFollowedPods(world);
  beforeEach(() => emptyTables(world.db, ['actions', 'operations']));

  const served = async () =>
    (await world.alive()).filter(({ pod_uid: pod }) => pod !== null).length;
  const matchAndRun = async () => {
    await world.match();
    await world.makeDue();
    await world.runTasks();
  };

  test.each(REFUSED)(
    'registrations answered with $status: the pass after it makes a worker, and $name is gone',
    async ({ status, name }) => {
      const fault = { path: '/actions/runners/generate-jitconfig$', status, times: 1_000 };
      await world.gitHub.failNext(fault);
      await world.queueJobs(3);
      for (let n = 0; n < 3; n += 1) await matchAndRun();
      await world.gitHub.clearCallFaults();
      await matchAndRun();
      expect(await served()).toBe(0);
      const named = async () =>
        (await ask(listDiagnosesEndpoint, world.db)).items.find(({ act }) => act === 'try-again');
      expect(await named()).toMatchObject({ name, jobs: 3 });

      expect(await ask(tryAgainEndpoint, world.db, { name, note: 'mended' })).toEqual({ tried: 1 });
      await matchAndRun();
      expect(await served()).toBeGreaterThan(0);
      // The others follow once the first one has shown that it works.
      await waitFor('a runner for each job', async () => {
        await pods.take(await pods.list());
        await matchAndRun();
        return (await served()) === 3;
      });
      expect(await named()).toBeUndefined();
    },
  );
});
