import { configFile, type GitHubPart } from '@paddock/domain/pools/config-file';
import { type ReadFile, readText } from '@paddock/runtime/file-reading';
import { readSecret } from '@paddock/runtime/read-secret';
import type { Secret } from '@paddock/runtime/secret';
import type { Environment } from '@paddock/runtime/settings';
import { readYamlFile } from '@paddock/runtime/yaml-file';

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

export const readKeys = (
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
