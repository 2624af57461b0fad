import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import type { SmallWorld } from './small-world.scene.ts';

export type ApiAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
};

/** Calls the API as curl would, without the behaviour of any client library. */
export async function callApi(
  world: SmallWorld,
  method: string,
  path: string,
  { authorization, body }: { authorization?: string; body?: unknown } = {},
): Promise<ApiAnswer> {
  const response = await fetch(`${world.github.url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

/** The Authorization header of the App; claims in seconds since the epoch. */
export async function appAuthorization(
  world: SmallWorld,
  claims: { readonly iat?: number; readonly exp?: number } = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const jwt = new SignJWT({ iat: now - 30, exp: now + 500, iss: String(world.appId), ...claims });
  jwt.setProtectedHeader({ alg: 'RS256' });
  return `Bearer ${await jwt.sign(createPrivateKey(world.privateKeyPem))}`;
}

/** The Authorization header of the organisation's installation. */
export async function installationAuthorization(world: SmallWorld): Promise<string> {
  const path = `/app/installations/${world.organization.installationId}/access_tokens`;
  const authorization = await appAuthorization(world);
  const { body } = await callApi(world, 'POST', path, { authorization });
  return `token ${(body as { token: string }).token}`;
}

/**
 * Registers a runner and returns its JIT config; of the organisation unless one of its repositories
 * is given.
 */
export async function registerRunner(
  world: SmallWorld,
  {
    name,
    labels,
    repository,
  }: { readonly name: string; readonly labels: readonly string[]; readonly repository?: string },
): Promise<{ readonly runnerId: number; readonly jitConfig: string }> {
  const scope = repository === undefined ? '/orgs/acme' : `/repos/${repository}`;
  const { body } = await callApi(world, 'POST', `${scope}/actions/runners/generate-jitconfig`, {
    authorization: await installationAuthorization(world),
    body: { name, labels, runner_group_id: 1 },
  });
  const answer = body as { runner: { id: number }; encoded_jit_config: string };
  return { runnerId: answer.runner.id, jitConfig: answer.encoded_jit_config };
}
