import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startSmallWorld, type SmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import type { InstallationClient } from './connect.ts';
import { classifyGitHubError } from './errors.ts';
import { findVersionEnd } from './runner-versions.ts';
import { connectSmallWorld } from './scenes/connect-small-world.scene.ts';

const ACME = { kind: 'organization', owner: 'acme' } as const;
const API = { kind: 'repository', owner: 'acme', repo: 'api' } as const;

describe('the end of a version of the runner', () => {
  let world: SmallWorld;
  let client: InstallationClient;
  beforeAll(async () => {
    world = await startSmallWorld();
    client = connectSmallWorld(world).asInstallation(world.organization);
    await world.github.setRunnerVersion('2.340.0', '2027-03-01T12:00:00Z');
    await world.github.setRunnerVersion('2.341.0', 'soon');
  });
  afterAll(() => world.github.stop());

  test.each([ACME, API])('is GitHub’s answer to $kind', async (scope) => {
    expect(await findVersionEnd(client, scope, '2.340.0')).toEqual({
      endsAt: new Date('2027-03-01T12:00:00Z'),
    });
    expect(await findVersionEnd(client, scope, '2.337.0')).toEqual({ endsAt: null });
  });

  test('is unknown where GitHub does not know the version, and null where GitHub has set no instant', async () => {
    expect(await findVersionEnd(client, ACME, '9.9.9')).toBeUndefined();
    expect(await findVersionEnd(client, ACME, '2.341.0')).toEqual({ endsAt: null });
  });

  test('is not taken as unknown when GitHub refuses or is unavailable', async () => {
    await world.github.failNext({ path: 'deprecations', status: 403 });
    expect(await findVersionEnd(client, ACME, '2.340.0').catch(classifyGitHubError)).toMatchObject({
      kind: 'forbidden',
    });
  });
});
