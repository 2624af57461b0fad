import { configFile, type GitHubPart } from '@paddock/domain/pools/config-file';
import { ConfigError } from '@paddock/runtime/config-error';
import { type ReadFile, readText } from '@paddock/runtime/file-reading';
import { readSecret, type Secret } from '@paddock/runtime/secret';
import type { Environment } from '@paddock/runtime/settings';
import { readYamlFile } from '@paddock/runtime/yaml-file';
import type { AppEvents } from './follow-apps.ts';
import type { GitHub } from './connect.ts';
import { parsePrivateKey } from './credentials.ts';
import { type FollowedApps, followApps } from './follow-apps.ts';

/** The GitHub part of the configuration file, for services that call GitHub. */
export interface GitHubSection {
  readonly apiUrl: string;
  readonly apps: readonly KeyedApp[];
}

export interface KeyedApp {
  readonly appId: number;
  readonly privateKey: Secret;
}

/**
 * Reads the GitHub section and every App's private key. Undefined if the file cannot be read.
 * Problems go into the list.
 */
export function readGitHubSection(
  path: string,
  environment: Environment,
  problems: string[],
): GitHubSection | undefined {
  const file = readYamlFile(path, configFile);
  problems.push(...file.problems);
  if (file.value === undefined) return undefined;
  return { apiUrl: file.value.github.apiUrl, apps: readKeys(file.value, environment, problems) };
}

const readKeys = (
  { github }: GitHubPart,
  environment: Environment,
  problems: string[],
  readFile: ReadFile = readText,
): KeyedApp[] =>
  github.apps.flatMap(({ id, privateKey: source }) => {
    const what = `The private key of App ${id}`;
    const privateKey = readSecret(what, source, environment, problems, readFile);
    return privateKey === undefined ? [] : [{ appId: id, privateKey }];
  });

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
