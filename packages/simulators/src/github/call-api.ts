import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import type { SmallWorld } from '../scenes/small-world.scene.ts';

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
  {
    authorization,
    body,
    headers = {},
  }: { authorization?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<ApiAnswer> {
  const response = await fetch(`${world.github.url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...headers,
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

type Claims = { readonly iat?: number; readonly exp?: number; readonly iss?: string };

/** The Authorization header of the App; claims in seconds since the epoch. */
export async function appAuthorization(
  world: SmallWorld,
  claims: Claims = {},
  privateKeyPem: string = world.privateKeyPem,
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const jwt = new SignJWT({
    iat: now - 30,
    exp: now + 500,
    iss: String(world.appId),
    ...claims,
  }).setProtectedHeader({ alg: 'RS256' });
  return `Bearer ${await jwt.sign(createPrivateKey(privateKeyPem))}`;
}

/** The Authorization header of an installation, by default the organisation's. */
export async function installationAuthorization(
  world: SmallWorld,
  installationId: number = world.organization.installationId,
  claims: Claims = {},
): Promise<string> {
  const { status, body } = await callApi(
    world,
    'POST',
    `/app/installations/${installationId}/access_tokens`,
    {
      authorization: await appAuthorization(world, claims),
    },
  );
  if (status !== 201 || typeof body !== 'object' || body === null || !('token' in body))
    throw new Error(`No token: status ${status}.`);
  return `token ${String(body.token)}`;
}

/**
 * Registers a runner and returns its JIT config; of the organisation unless a repository
 * (`owner/name`) is given.
 */
export async function registerRunner(
  world: SmallWorld,
  {
    name,
    labels,
    repository,
  }: { readonly name: string; readonly labels: readonly string[]; readonly repository?: string },
): Promise<{ readonly runnerId: number; readonly jitConfig: string }> {
  const installationId =
    repository?.startsWith(`${world.user.login}/`) === true
      ? world.user.installationId
      : world.organization.installationId;
  const scope =
    repository === undefined ? `/orgs/${world.organization.login}` : `/repos/${repository}`;
  const { status, body } = await callApi(
    world,
    'POST',
    `${scope}/actions/runners/generate-jitconfig`,
    {
      authorization: await installationAuthorization(world, installationId),
      body: { name, labels, runner_group_id: 1 },
    },
  );
  if (status !== 201) throw new Error(`No runner: status ${status}.`);
  const answer = body as { runner: { id: number }; encoded_jit_config: string };
  return { runnerId: answer.runner.id, jitConfig: answer.encoded_jit_config };
}
