import { ConfigError } from '@paddock/runtime/config-error';
import type { Secret } from '@paddock/runtime/secret';
import type { Environment } from '@paddock/runtime/settings';
import type { AppEvents } from './app-events.ts';
import { parsePrivateKey } from './app-jwt.ts';
import type { GitHub } from './connect.ts';
import { type FollowedApps, followApps } from './follow-apps.ts';
import { type GitHubSection, type KeyedApp, readKeys } from './read-github-section.ts';

export interface FollowKeysOptions {
  readonly config: {
    readonly configPath: string;
    readonly databaseUrl: Secret;
    readonly github: GitHubSection;
  };
  readonly environment: Environment;
  /** Uses the changed Apps and keys from then on. */
  readonly github: Pick<GitHub, 'useApps'>;
  readonly events: AppEvents;
  /** An App is configured anew, or has another key: what GitHub refused it before says nothing now. */
  readonly onNews?: (appId: number) => Promise<void>;
}

export interface FollowedKeys extends FollowedApps {
  /** All keys that were ever in use, and the database's address: what messages must not show. */
  readonly secrets: readonly Secret[];
}

/** Follows the Apps and their private keys, for services that call GitHub. */
export function followKeys({
  config,
  environment,
  github,
  events,
  onNews = () => Promise.resolve(),
}: FollowKeysOptions): FollowedKeys {
  const secrets = [config.databaseUrl, ...keysOf(config.github.apps)];
  const followed = followApps({
    configPath: config.configPath,
    apps: config.github.apps,
    read: (file, problems, readFile) => {
      const apps = readKeys(file, environment, problems, readFile);
      problems.push(...apps.flatMap(problemsOfKey));
      return apps;
    },
    known: ({ appId, privateKey }) => ({ appId, secrets: [privateKey] }),
    async onChanged(apps, changes) {
      github.useApps(apps.map(revealed));
      secrets.push(...keysOf(apps));
      for (const { appId, change } of changes) if (change !== 'removed') await onNews(appId);
    },
    events,
  });
  return { ...followed, secrets };
}

const keysOf = (apps: readonly KeyedApp[]): Secret[] => apps.map(({ privateKey }) => privateKey);

export const revealed = ({ appId, privateKey }: KeyedApp) => ({
  appId,
  privateKey: privateKey.reveal(),
});

function problemsOfKey({ appId, privateKey }: KeyedApp): readonly string[] {
  try {
    parsePrivateKey(appId, privateKey.reveal());
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
