import type { SmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import { NO_WAITS } from '@paddock/testing/no-waits';
import { connectGitHub, type GitHub, type GitHubOptions } from '../connect.ts';

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
