import { asList, asRecord } from '@paddock/domain/pools/as-record';
import type { GitHubPart } from '@paddock/domain/pools/config-file';
import { ConfigError } from '@paddock/runtime/config-error';
import { type ReadFile, readText } from '@paddock/runtime/file-reading';
import { readSecret, type Secret } from '@paddock/runtime/secret';
import type { Environment } from '@paddock/runtime/settings';
import { every } from '@paddock/runtime/pause';
import { createAppChecks } from './check-apps.ts';
import type { AppEvents } from './follow-apps.ts';
import type { GitHub } from './connect.ts';
import { parsePrivateKey } from './credentials.ts';
import { followApps, LOOK_EVERY_MS, readGitHubPart } from './follow-apps.ts';

/** The GitHub part of the configuration file, for services that call GitHub. */
export interface GitHubSection {
  readonly apiUrl: string;
  readonly intake: GitHubPart['github']['intake'];
  readonly apps: readonly KeyedApp[];
  /** Pools register organisations' runners at their repositories. */
  readonly atRepositories: boolean;
}

interface KeyedApp {
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
  const file = readGitHubPart(path, problems);
  return file && readKeys(file, environment, problems);
}

function readKeys(
  file: GitHubPart,
  environment: Environment,
  problems: string[],
  readFile: ReadFile = readText,
): GitHubSection {
  const apps = file.github.apps.flatMap(({ id, privateKey: source }) => {
    const what = `The private key of App ${id}`;
    const privateKey = readSecret(what, source, environment, problems, readFile);
    return privateKey === undefined ? [] : [{ appId: id, privateKey }];
  });
  problems.push(...apps.flatMap(problemsOfKey));
  const atRepositories = asList(asRecord(file)['pools']).some(
    (pool) => asRecord(pool)['registration'] === 'repository',
  );
  const { apiUrl, intake } = file.github;
  return { apiUrl, intake, apps, atRepositories };
}

export interface FollowKeysOptions {
  readonly config: {
    readonly configPath: string;
    readonly databaseUrl: Secret;
    readonly github: GitHubSection;
  };
  readonly environment: Environment;
  /** Uses the changed Apps and keys from then on. */
  readonly github: Pick<GitHub, 'useApps' | 'appIds' | 'asApp'>;
  readonly events: AppEvents;
  /** An App is configured anew, or has another key: what GitHub refused it before says nothing now. */
  readonly onNews?: (appId: number) => Promise<void>;
}

/**
 * Follows the Apps, their private keys and the address of the API, for services that call GitHub. A
 * new App is checked at GitHub once.
 */
export function followKeys({
  config,
  environment,
  github,
  events,
  onNews = () => Promise.resolve(),
}: FollowKeysOptions) {
  const secrets = [config.databaseUrl, ...keysOf(config.github.apps)];
  let inUse = config.github;
  const checks = createAppChecks({
    github,
    atRepositories: () => inUse.atRepositories,
    onProblems: events.unfit,
  });
  const followed = followApps({
    configPath: config.configPath,
    apps: inUse,
    read: (file, problems, readFile) => readKeys(file, environment, problems, readFile),
    known: ({ apiUrl, apps }) =>
      apps.map(({ appId, privateKey }) => ({ appId, secrets: [privateKey], apiUrl })),
    async onChanged(section, changes) {
      if (inUse !== section) secrets.push(...keysOf(section.apps));
      inUse = section;
      github.useApps({ ...section, apps: section.apps.map(revealed) });
      for (const { appId, change } of changes) {
        checks.forget(appId);
        if (change !== 'removed') await onNews(appId);
      }
    },
    events,
  });
  return {
    /** What is in use now. */
    section: () => inUse,
    look: followed.look,
    refusal: followed.refusal,
    warning: checks.warning,
    run: async (signal: AbortSignal): Promise<void> => {
      await Promise.all([followed.run(signal), every(LOOK_EVERY_MS, checks.look)(signal)]);
    },
    /** All keys that were ever in use, and the database's address: what messages must not show. */
    secrets,
  };
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
