import { configFile } from '@paddock/domain/pools/config-file';
import { readSecret } from '@paddock/runtime/read-secret';
import type { Secret } from '@paddock/runtime/secret';
import type { Environment } from '@paddock/runtime/settings';
import { readYamlFile } from '@paddock/runtime/yaml-file';

/** The GitHub part of the configuration file, for services that call GitHub. */
export interface GitHubSection {
  readonly apiUrl: string;
  readonly apps: readonly { readonly appId: number; readonly privateKey: Secret }[];
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
  const { apiUrl, apps } = file.value.github;
  const keyed = apps.flatMap(({ id, privateKey: source }) => {
    const privateKey = readSecret(`The private key of App ${id}`, source, environment, problems);
    return privateKey === undefined ? [] : [{ appId: id, privateKey }];
  });
  return { apiUrl, apps: keyed };
}
