import { configFile } from '@paddock/domain/config-file';
import { sharedLabels } from '@paddock/domain/pools-document';
import { ConfigError } from '@paddock/runtime/config-error';
import type { Environment } from '@paddock/runtime/settings';
import { readYamlFile } from '@paddock/runtime/yaml-file';
import { settings } from './config.ts';

/**
 * What `--check-pools` prints of the configuration file: which label sets fit several pools, and which pool serves their jobs (B4). Needs
 * neither a database nor secrets. Throws a ConfigError with all that is wrong in the file.
 */
export function checkPools(environment: Environment): string {
  const { env, doc } = settings.configPath;
  const path = environment[env] ?? '';
  if (path === '') throw new ConfigError([`${env} is not set: ${doc}`]);
  const { value, problems } = readYamlFile(path, configFile);
  if (value === undefined) throw new ConfigError(problems);
  const lines = sharedLabels(value.pools).map(
    ({ labels, pools: [first, ...others] }) =>
      `Jobs with the labels ${labels.join(', ')} go to ${first}; they fit ${others.join(', ')} too.`,
  );
  return [`${path} can be used; it has ${value.pools.length} pools.`, ...lines].join('\n');
}
