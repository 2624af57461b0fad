import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { startSmallWorld, type SmallWorld } from '../scenes/small-world.scene.ts';
import { ajv, problemsOf } from '../scenes/openapi.scene.ts';
import {
  appAuthorization,
  callApi,
  installationAuthorization,
  registerRunner,
} from '../scenes/call-api.scene.ts';
import { playRunner } from './play-runner.ts';
import { type Receiver, startReceiver } from './start-receiver.ts';

/** The simulator's answers, compared with GitHub's published description of the API. */

describe('the simulated GitHub answers as GitHub’s description says', () => {
  let world: SmallWorld;
  let receiver: Receiver;
  let app: string;
  let acme: string;
  let jobId: number;
  let runId: number;
  let runnerId: number;
  let repositoryRunnerId: number;
  let deliveryId: string;

  beforeAll(async () => {
    receiver = await startReceiver();
    world = await startSmallWorld({ webhookUrl: receiver.url });
    app = await appAuthorization(world);
    acme = await installationAuthorization(world);
    ({ runnerId } = await registerRunner(world, {
      name: 'of-acme',
      labels: ['self-hosted', 'linux'],
    }));
    ({ runnerId: repositoryRunnerId } = await registerRunner(world, {
      name: 'of-api',
      labels: ['self-hosted'],
      repository: 'acme/api',
    }));
    const job = await world.github.queueJob({
      repo: 'acme/api',
      labels: ['ubuntu-latest'],
      hosted: true,
      durationMs: 1,
    });
    ({ id: jobId, runId } = job);
    await waitFor(
      'the hosted job to end',
      async () => (await world.github.report()).completed === 1,
    );
    await world.github.settled();
    deliveryId = (await world.github.truth()).deliveries[0]?.id ?? '';
  });
  afterAll(async () => {
    await world.github.stop();
    await receiver.stop();
  });

  const jit = { name: 'made-here', labels: ['self-hosted'], runner_group_id: 1 };
  const group = { name: 'made here', visibility: 'private', allows_public_repositories: true };
  const JIT = '/actions/runners/generate-jitconfig';

  type Case = readonly [request: string, status: number, body?: object];
  test.each<Case>([
    ['get /app', 200],
    ['get /app/installations', 200],
    ['get /app/installations/{installation_id}', 200],
    ['post /app/installations/{installation_id}/access_tokens', 201],
    ['get /app/hook/deliveries', 200],
    ['get /rate_limit', 200],
    ['get /orgs/{org}/actions/runners', 200],
    ['get /orgs/{org}/actions/runners/{runner_id}', 200],
    [`post /orgs/{org}${JIT}`, 201, jit],
    [`post /orgs/{org}${JIT}`, 409, jit],
    [`post /orgs/{org}${JIT}`, 422, { ...jit, labels: [] }],
    ['get /orgs/{org}/actions/runner-groups', 200],
    ['post /orgs/{org}/actions/runner-groups', 201, group],
    ['get /orgs/{org}/actions/runner-groups/{runner_group_id}/repositories', 200],
    ['get /repos/{owner}/{repo}/actions/runners', 200],
    ['get /repos/{owner}/{repo}/actions/runners/{runner_id}', 200],
    [`post /repos/{owner}/{repo}${JIT}`, 201, jit],
    [`post /repos/{owner}/{repo}${JIT}`, 409, jit],
    [`post /repos/{owner}/{repo}${JIT}`, 422, { ...jit, name: '' }],
    ['get /repos/{owner}/{repo}/actions/jobs/{job_id}', 200],
    ['get /repos/{owner}/{repo}/actions/runs', 200],
    ['get /repos/{owner}/{repo}/actions/runs/{run_id}', 200],
    ['get /repos/{owner}/{repo}/actions/runs/{run_id}/jobs', 200],
    ['delete /orgs/{org}/actions/runners/{runner_id}', 204],
    ['delete /repos/{owner}/{repo}/actions/runners/{runner_id}', 204],
  ])('%s: %i', async (...[request, status, body]: Case) => {
    const [method = '', path = ''] = request.split(' ');
    const answer = await callApi(world, method.toUpperCase(), fill(path), {
      authorization: path.startsWith('/app') ? app : acme,
      body,
    });
    expect(answer.status).toBe(status);
    expect(problemsOf(method, path, answer)).toEqual([]);
    expect(answer.headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/);
  });

  test('gives no token for another App’s installation: 404', async () => {
    const answer = await callApi(world, 'POST', '/app/installations/1/access_tokens', {
      authorization: app,
    });
    expect(answer.status).toBe(404);
    const path = '/app/installations/{installation_id}/access_tokens';
    expect(problemsOf('post', path, answer)).toEqual([]);
  });

  test.each(['/orgs/mona', '/orgs/missing', '/repos/mona/tool', '/repos/acme/nothing'])(
    'JIT for %s: 404, for the installation cannot see it',
    async (scope) => {
      const answer = await callApi(world, 'POST', `${scope}/actions/runners/generate-jitconfig`, {
        authorization: acme,
        body: jit,
      });
      expect(answer.status).toBe(404);
      const path = `${scope.startsWith('/orgs') ? '/orgs/{org}' : '/repos/{owner}/{repo}'}/actions/runners/generate-jitconfig`;
      expect(problemsOf('post', path, answer)).toEqual([]);
    },
  );

  test('refuses to delete a busy runner: 422', async () => {
    const { runnerId: busyId, jitConfig } = await registerRunner(world, {
      name: 'busy',
      labels: ['only-here'],
    });
    await world.github.queueJob({ repo: 'acme/api', labels: ['only-here'], durationMs: 600_000 });
    const killed = new AbortController();
    const end = playRunner(jitConfig, killed.signal);
    await waitFor('the runner to be busy', async () =>
      (await world.github.truth()).runners.some(({ state }) => state === 'busy'),
    );
    const answer = await callApi(world, 'DELETE', `/orgs/acme/actions/runners/${busyId}`, {
      authorization: acme,
    });
    expect(answer.status).toBe(422);
    expect(problemsOf('delete', '/orgs/{org}/actions/runners/{runner_id}', answer)).toEqual([]);
    killed.abort();
    await end;
  });

  test('counts no question for the limits against any of them', async () => {
    const [first, second] = [
      await callApi(world, 'GET', '/rate_limit', { authorization: acme }),
      await callApi(world, 'GET', '/rate_limit', { authorization: acme }),
    ];
    expect(second.body).toEqual(first.body);
  });

  test('gives a suspended installation no token: 403', async () => {
    await world.github.suspend(world.user.installationId);
    const path = '/app/installations/{installation_id}/access_tokens';
    const answer = await callApi(
      world,
      'POST',
      path.replace('{installation_id}', String(world.user.installationId)),
      {
        authorization: app,
      },
    );
    expect(answer.status).toBe(403);
    expect(problemsOf('post', path, answer)).toEqual([]);
  });

  test('gives no installation token without a JSON web token: 401', async () => {
    const path = '/app/installations/{installation_id}/access_tokens';
    const answer = await callApi(world, 'POST', fill(path));
    expect(answer.status).toBe(401);
    expect(problemsOf('post', path, answer)).toEqual([]);
  });

  // The description has an object as its body and null as its example, so only the status is
  // certain.
  test('accepts a redelivery: 202', async () => {
    const answer = await callApi(world, 'POST', `/app/hook/deliveries/${deliveryId}/attempts`, {
      authorization: app,
    });
    expect(answer).toMatchObject({ status: 202, body: {} });
    await world.github.settled();
  });

  // GitHub has described it since 2026-09-03, after we cut the slice: `runner_version` is always
  // present, an end may be null or absent.
  test.each(['/orgs/acme', '/repos/acme/api'])(
    'GET %s/actions/runners/deprecations/{version} says when a version ends',
    async (scope) => {
      const ask = (version: string) =>
        callApi(world, 'GET', `${scope}/actions/runners/deprecations/${version}`, {
          authorization: acme,
        });
      const end = '2026-09-24T15:30:55Z';
      expect([(await ask('2.335.1')).body, (await ask('2.337.0')).body]).toEqual([
        { runner_version: '2.335.1', runtime_deprecates_at: end },
        { runner_version: '2.337.0', runtime_deprecates_at: null },
      ]);
      expect((await ask('9.9.9')).status).toBe(404);
    },
  );

  test.each(['/repos/acme/api', `/repositories/{repository_id}`])(
    'GET %s is the repository',
    async (path) => {
      const answer = await callApi(
        world,
        'GET',
        path.replace('{repository_id}', String(world.repositories.api)),
        { authorization: acme },
      );
      const validate = ajv.compile({ $ref: 'github#/components/schemas/repository' });
      expect(validate(answer.body) ? [] : validate.errors).toEqual([]);
      expect(answer).toMatchObject({
        status: 200,
        body: { id: world.repositories.api, full_name: 'acme/api' },
      });
    },
  );

  function fill(path: string): string {
    const values: Readonly<Record<string, string | number>> = {
      installation_id: world.organization.installationId,
      delivery_id: deliveryId,
      org: 'acme',
      owner: 'acme',
      repo: 'api',
      runner_id: path.startsWith('/orgs') ? runnerId : repositoryRunnerId,
      runner_group_id: 1,
      job_id: jobId,
      run_id: runId,
    };
    return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => String(values[name]));
  }
});
