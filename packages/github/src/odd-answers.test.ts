import { describe, expect, test } from '@jest/globals';
import { askRun } from './ask-run.ts';
import { tellFailure } from './errors.ts';
import { findInstallation, getApp, listInstallations } from './installations.ts';
import { findJob, findRun, listRunJobs, listRuns } from './jobs.ts';
import { findRepository, listRepositories } from './repositories.ts';
import { ensureRunnerGroup } from './runner-groups.ts';
import { createJitConfig, deleteRunner, findRunner, getRunner, listRunners } from './runners.ts';
import { ACME, API, failureOf, jit, useSmallWorld } from './scenes/small-world.scene.ts';
import { LONGEST_WAIT_MS, waitsNamedBy } from './waits.ts';

const small = useSmallWorld();

/** A connection whose answers to a path are others: their text, their headers or their status. */
const altering = (
  path: RegExp,
  alter: (text: string, headers: Headers) => { text?: string; status?: number } | void,
) =>
  small.connect({
    fetch: async (input, init) => {
      const answer = await globalThis.fetch(input, init);
      if (!path.test(new URL(answer.url).pathname)) return answer;
      const [text, headers] = [await answer.text(), new Headers(answer.headers)];
      const { status = answer.status, text: body = text } = alter(text, headers) ?? {};
      const odd = new Response(body, { status, headers });
      return Object.defineProperty(odd, 'url', { value: answer.url });
    },
  });

type Change = (body: Record<string, unknown>) => unknown;

/** The installation, where the bodies of a path are others. */
const saying = (path: RegExp, change: Change) =>
  altering(path, (text) => {
    const body = JSON.parse(text) as Record<string, unknown>;
    return { text: JSON.stringify(change(body) ?? body) };
  }).asInstallation(small.world.organization);

/** Something before GitHub that has a page for everything but tokens. */
const behindPages = (status: number, type: string, text: string) =>
  altering(/^(?!.*access_tokens$)/, (_text, headers) => {
    headers.set('content-type', type);
    return { status, text };
  });

const without =
  (list: string, field: string): Change =>
  (body) => {
    for (const one of body[list] as Record<string, unknown>[]) delete one[field];
  };

describe('an answer that lacks what decides is refused, with what was asked and what is wrong (P6)', () => {
  const jobsWithout = async (field: string, status: string) => {
    await small.queue();
    const runId = await runOf();
    const client = saying(/\/jobs$/, (body) => {
      for (const job of body['jobs'] as object[]) Object.assign(job, { status });
      return without('jobs', field)(body);
    });
    return { runId, asking: listRunJobs(client, API, runId) };
  };

  test.each(['id', 'run_id', 'status', 'runner_id', 'runner_name'])(
    'a job that runs, without its %s',
    async (field) => {
      const { runId, asking } = await jobsWithout(field, 'in_progress');
      const failure = await failureOf(asking);
      expect(failure).toMatchObject({ kind: 'unusable' });
      expect(failure && tellFailure(failure)).toMatch(
        `to /repos/acme/api/actions/runs/${runId}/jobs cannot be used: jobs.0.${field.replace('runner_id', 'runner_name')}: `,
      );
    },
  );

  test.each([
    ['conclusion', 'in_progress'],
    ['runner_id', 'queued'],
    ['runner_name', 'completed'],
  ])('but not a job without its %s that is %s', async (field, status) => {
    const { asking } = await jobsWithout(field, status);
    const none = { conclusion: null, runnerId: null, runnerName: null };
    expect(await asking).toMatchObject([{ ...none, status }]);
  });

  test.each<[string, Change]>([
    ['with a text for a total', (body) => ({ ...body, total_count: '1' })],
    ['without a list', () => ({ total_count: 0 })],
    ['that are no object', () => []],
    ['without a status', without('runners', 'status')],
  ])('runners %s', async (_what, change) => {
    await createJitConfig(small.client, ACME, jit());
    const client = saying(/\/runners$/, change);
    const asked = { kind: 'unusable', operation: '/orgs/acme/actions/runners' };
    expect(await failureOf(listRunners(client, ACME))).toMatchObject(asked);
    expect(await failureOf(findRunner(client, ACME, 'worker-1'))).toMatchObject(asked);
  });

  test('a run, a repository, a group, an App', async () => {
    await small.queue();
    const odd = (path: RegExp, change: object) => saying(path, (body) => ({ ...body, ...change }));
    const group = { name: 'ci', visibility: 'all', allowsPublicRepositories: false } as const;
    await ensureRunnerGroup(small.client, 'acme', group);
    const calls = [
      listRuns(saying(/\/runs$/, without('workflow_runs', 'status')), API, { status: 'queued' }),
      listRepositories(odd(/\/installation\/repositories$/, { repositories: [{ id: 1 }] })),
      ensureRunnerGroup(
        saying(/\/runner-groups$/, without('runner_groups', 'visibility')),
        'acme',
        group,
      ),
      getApp(
        altering(/\/app$/, (text) => ({
          text: text.replace('"events":', '"other":'),
        })).asApp(small.world.appId),
      ),
    ];
    for (const failure of await Promise.all(calls.map(failureOf)))
      expect(failure).toMatchObject({ kind: 'unusable' });
  });

  test('an installation is left out of the list, and refused by its id', async () => {
    const { installationId: id } = small.world.organization;
    const path = /^\/app\/installations/;
    const app = altering(path, (text) => ({
      text: text.replaceAll('"login":"acme"', '"login":null'),
    })).asApp(small.world.appId);
    expect(await listInstallations(app)).toMatchObject([{ login: 'mona' }]);
    expect(await failureOf(findInstallation(app, { id }))).toMatchObject({ kind: 'unusable' });
  });
});

const runOf = async (): Promise<number> => {
  const list = await listRuns(small.client, API, { status: 'queued' });
  return list.kind === 'changed' ? Number(list.items[0]?.id) : 0;
};

test('an answer about another object than was asked for is refused (P6)', async () => {
  const { id: job } = await small.queue();
  const runId = await runOf();
  const { runnerId } = await createJitConfig(small.client, ACME, jit());
  const client = saying(/\d$/, (body) => ({ ...body, id: 7 }));
  const calls = [
    findJob(client, API, job),
    findRun(client, API, runId),
    getRunner(client, ACME, runnerId),
    findRepository(client, small.world.repositories.api),
    listRunJobs(
      saying(/\/jobs$/, (body) => {
        for (const one of body['jobs'] as { run_id: number }[]) one.run_id = 7;
      }),
      API,
      runId,
    ),
  ];
  for (const failure of await Promise.all(calls.map(failureOf)))
    expect(failure).toMatchObject({ kind: 'unusable' });
});

test('an unknown word for a group’s visibility counts as the widest one (P6)', async () => {
  await small.simulator.setRunnerGroup({ org: 'acme', name: 'ci', visibility: 'private' });
  const odd = altering(/runner-groups$/, (text) => ({
    text: text.replaceAll('"private"', '"internal"'),
  })).asInstallation(small.world.organization);
  const group = { name: 'ci', visibility: 'all', allowsPublicRepositories: false } as const;
  const { access } = await ensureRunnerGroup(odd, 'acme', group);
  expect(access).toMatchObject({ visibility: 'all' });
});

test('a runner is offline by that word alone (P2)', async () => {
  const { runnerId } = await createJitConfig(small.client, ACME, jit());
  for (const [status, online] of [
    ['offline', false],
    ['online', true],
    ['active', true],
  ]) {
    const client = saying(/\/\d+$/, (body) => ({ ...body, status }));
    expect(await getRunner(client, ACME, runnerId)).toMatchObject({ online });
  }
});

describe.each([
  ['text/html', '<html>no such page</html>'],
  ['text/plain', 'no healthy upstream'],
  ['text/plain', ''],
])('a refusal that is no object (%s: %j) is not GitHub’s (P2, P6)', (type, text) => {
  test.each([403, 404, 410])('with status %d', async (status) => {
    const github = behindPages(status, type, text);
    const client = github.asInstallation(small.world.organization);
    const calls = [
      getRunner(client, ACME, 5),
      deleteRunner(client, ACME, 5),
      askRun(client, { runId: 5, repoId: small.world.repositories.api, name: API }),
      findJob(client, API, 5),
      findInstallation(github.asApp(small.world.appId), { id: 5 }),
      ensureRunnerGroup(client, 'acme', {
        name: 'ci',
        visibility: 'all',
        allowsPublicRepositories: false,
      }),
    ];
    for (const failure of await Promise.all(calls.map(failureOf)))
      expect(failure).toMatchObject({ kind: 'unavailable', status });
  });
});

test.each([
  [200, 'text/html', '<html>'],
  [202, 'text/html', '<html>'],
  [203, 'application/json', '{}'],
])('status %d with %s does not say that a runner was removed (P2)', async (status, type, text) => {
  const client = behindPages(status, type, text).asInstallation(small.world.organization);
  expect((await failureOf(deleteRunner(client, ACME, 5)))?.kind).toMatch(/unavailable|unusable/);
});

test('a header that names years makes a wait of an hour, as GitHub’s budgets last (P4, P6)', () => {
  const now = Date.now();
  const spent = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now) };
  const waits = waitsNamedBy(
    { status: 429, headers: { ...spent, 'retry-after': '99999999999' }, data: {} },
    now,
  );
  expect(waits).toEqual([{ ms: LONGEST_WAIT_MS }, { ms: LONGEST_WAIT_MS }]);
});

test('a budget that an odd instant fills again is not believed (P6)', async () => {
  const { installationId } = small.world.organization;
  for (const [reset, isBelieved] of [
    [Math.floor(Date.now() / 1000) + 600, true],
    // Milliseconds.
    [Date.now(), false],
    [1e300, false],
  ] as const) {
    const github = altering(/repositories$/, (_text, headers) =>
      headers.set('x-ratelimit-reset', String(reset)),
    );
    await listRepositories(github.asInstallation(small.world.organization));
    expect(github.budgetOf(installationId) !== undefined).toBe(isBelieved);
  }
});

test('a deprecated endpoint writes nothing to the process’s output', async () => {
  const told: unknown[] = [];
  const { warn } = console;
  console.warn = (line: unknown) => void told.push(line);
  try {
    const deprecated = altering(/repositories$/, (_text, headers) =>
      headers.set('deprecation', 'Sat, 01 Jan 2028 00:00:00 GMT'),
    );
    await listRepositories(deprecated.asInstallation(small.world.organization));
  } finally {
    console.warn = warn;
  }
  expect(told).toEqual([]);
});
