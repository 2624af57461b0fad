import { readConfig } from '@paddock/runtime/read-config';
import { serviceSettings } from '@paddock/runtime/service-settings';
import type { Environment, SettingsOf } from '@paddock/runtime/settings';

export const settings = {
  databaseUrl: serviceSettings.databaseUrl,
  sslMode: serviceSettings.sslMode,
  passFile: serviceSettings.passFile,
  schema: serviceSettings.schema,
};

export type MigrateConfig = SettingsOf<typeof settings>;

/** Reads the settings of `pnpm db:migrate`. Throws one ConfigError that names every problem. */
export function readMigrateConfig(environment: Environment): MigrateConfig {
  return readConfig({ settings, rules: {} }, environment, () => ({}));
}
