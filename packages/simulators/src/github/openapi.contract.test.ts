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
    const ofAcme = { name: 'of-acme', labels: ['self-hosted', 'linux'] };
    ({ runnerId } = await registerRunner(world, ofAcme));
    const ofApi = { name: 'of-api', labels: ['self-hosted'], repository: 'acme/api' };
    ({ runnerId: repositoryRunnerId } = await registerRunner(world, ofApi));
    const hosted = { labels: ['ubuntu-latest'], hosted: true, durationMs: 1 };
    ({ id: jobId, runId } = await world.github.queueJob({ repo: 'acme/api', ...hosted }));
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
    ['get /app/hook/config', 200],
    ['get /app/hook/deliveries', 200],
    ['get /app/hook/deliveries/{delivery_id}', 200],
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

  test('gives the credentials of an App that was made from a manifest, once', async () => {
    const manifest = JSON.stringify({
      name: 'Made here',
      hook_attributes: { url: receiver.url },
      redirect_url: `${world.github.url}/created`,
      default_permissions: { actions: 'read' },
      default_events: ['workflow_job'],
    });
    const made = await fetch(`${world.github.url}/organizations/acme/settings/apps?state=x`, {
      method: 'POST',
      body: new URLSearchParams({ manifest }),
      redirect: 'manual',
    });
    const back = new URL(made.headers.get('location') ?? '');
    expect(back.searchParams.get('state')).toBe('x');
    const path = `/app-manifests/${back.searchParams.get('code')}/conversions`;
    for (const status of [201, 404]) {
      const answer = await callApi(world, 'POST', path, {});
      expect(answer.status).toBe(status);
      expect(problemsOf('post', '/app-manifests/{code}/conversions', answer)).toEqual([]);
    }
  });

  const TOKENS = '/app/installations/{installation_id}/access_tokens';
  const tokensOf = (id: number) => TOKENS.replace('{installation_id}', String(id));
  test.each([
    ['of another App’s installation', () => tokensOf(1), () => app, 404],
    ['of a suspended one', () => tokensOf(world.user.installationId), () => app, 403],
    ['without a JSON web token', () => fill(TOKENS), () => '', 401],
  ])('gives no token %s', async (_which, path, authorization, status) => {
    await world.github.suspend(world.user.installationId);
    const answer = await callApi(world, 'POST', path(), { authorization: authorization() });
    expect(answer.status).toBe(status);
    expect(problemsOf('post', TOKENS, answer)).toEqual([]);
  });

  test.each(['/orgs/mona', '/orgs/missing', '/repos/mona/tool', '/repos/acme/nothing'])(
    'JIT for %s: 404, for the installation cannot see it',
    async (scope) => {
      const given = { authorization: acme, body: jit };
      const answer = await callApi(world, 'POST', `${scope}${JIT}`, given);
      expect(answer.status).toBe(404);
      const path = (scope.startsWith('/orgs') ? '/orgs/{org}' : '/repos/{owner}/{repo}') + JIT;
      expect(problemsOf('post', path, answer)).toEqual([]);
    },
  );

  test('refuses to delete a busy runner: 422', async () => {
    const only = { name: 'busy', labels: ['only-here'] };
    const { runnerId: busyId, jitConfig } = await registerRunner(world, only);
    await world.github.queueJob({ repo: 'acme/api', labels: ['only-here'], durationMs: 600_000 });
    const killed = new AbortController();
    const end = playRunner(jitConfig, killed.signal);
    await waitFor('the runner to be busy', async () =>
      (await world.github.truth()).runners.some(({ state }) => state === 'busy'),
    );
    const path = `/orgs/acme/actions/runners/${busyId}`;
    const answer = await callApi(world, 'DELETE', path, { authorization: acme });
    expect(answer.status).toBe(422);
    expect(problemsOf('delete', '/orgs/{org}/actions/runners/{runner_id}', answer)).toEqual([]);
    killed.abort();
    await end;
  });

  test('counts no question for the limits against any of them', async () => {
    const given = { authorization: acme };
    const { body } = await callApi(world, 'GET', '/rate_limit', given);
    expect((await callApi(world, 'GET', '/rate_limit', given)).body).toEqual(body);
  });

  // The description has an object as its body and null as its example, so only the status is
  // certain.
  test('accepts a redelivery: 202', async () => {
    const path = `/app/hook/deliveries/${deliveryId}/attempts`;
    const answer = await callApi(world, 'POST', path, { authorization: app });
    expect(answer).toMatchObject({ status: 202, body: {} });
    await world.github.settled();
  });

  // GitHub has described it since 2026-09-03, after we cut the slice: `runner_version` is always
  // present, an end may be null or absent.
  test.each(['/orgs/acme', '/repos/acme/api'])(
    'GET %s/actions/runners/deprecations/{version} says when a version ends',
    async (scope) => {
      const path = `${scope}/actions/runners/deprecations`;
      const ask = (version: string) =>
        callApi(world, 'GET', `${path}/${version}`, { authorization: acme });
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
      const there = path.replace('{repository_id}', String(world.repositories.api));
      const answer = await callApi(world, 'GET', there, { authorization: acme });
      const validate = ajv.compile({ $ref: 'github#/components/schemas/repository' });
      expect(validate(answer.body) ? [] : validate.errors).toEqual([]);
      const body = { id: world.repositories.api, full_name: 'acme/api' };
      expect(answer).toMatchObject({ status: 200, body });
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
