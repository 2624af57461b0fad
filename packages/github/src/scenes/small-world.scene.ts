import { afterEach, beforeEach } from '@jest/globals';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import { NO_WAITS } from '@paddock/testing/stand-ins';
import { connectGitHub, type GitHub, type GitHubOptions } from '../connect.ts';
import { classifyGitHubError } from '../errors.ts';

export const ACME = { kind: 'organization', owner: 'acme' } as const;
export const TOOL = { kind: 'repository', owner: 'mona', repo: 'tool' } as const;
export const API = { owner: 'acme', repo: 'api' } as const;

/** The settings of a registration. */
export const jit = (name = 'worker-1') => ({ name, labels: ['linux'], runnerGroupId: 1 });

/** How a call failed; undefined: it did not. */
export const failureOf = (call: Promise<unknown>) =>
  call.then(() => undefined, classifyGitHubError);

/** The App of a small world, of which no call has to wait; `given` overrides options. */
export const connectSmallWorld = (
  { github, appId, privateKeyPem: privateKey }: SmallWorld,
  given: Partial<GitHubOptions> = {},
): GitHub =>
  connectGitHub({
    apiUrl: github.url,
    apps: [{ appId, privateKey }],
    waits: NO_WAITS,
    requestTimeoutMs: 60_000,
    ...given,
  });

/**
 * Gives each test of a file, or of a block, a small world with these options, and a connection to it
 * with those.
 */
export function useSmallWorld(
  options?: () => Parameters<typeof startSmallWorld>[0],
  connection?: () => Partial<GitHubOptions>,
) {
  let world: SmallWorld;
  let github: GitHub;
  const connect = (given: Partial<GitHubOptions> = {}): GitHub =>
    connectSmallWorld(world, { ...connection?.(), ...given });
  beforeEach(async () => {
    world = await startSmallWorld(options?.());
    github = connect();
  });
  afterEach(() => world.github.stop());
  return {
    connect,
    get world() {
      return world;
    },
    get simulator() {
      return world.github;
    },
    get github() {
      return github;
    },
    get client() {
      return github.asInstallation(world.organization);
    },
    get app() {
      return github.asApp(world.appId);
    },
    /** How often each operation was called. */
    calls: async () => (await world.github.report()).calls,
    /** Queues a job of acme/api that no runner takes. */
    queue: (given: object = {}) =>
      world.github.queueJob({ repo: 'acme/api', labels: ['none'], ...given }),
    async queueMany(count: number, given: object = {}): Promise<void> {
      for (let n = 0; n < count; n += 1)
        await world.github.queueJob({ repo: 'acme/api', labels: ['none'], ...given });
    },
  };
}
