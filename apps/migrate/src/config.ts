import { readConfig } from '@paddock/runtime/read-config';
import { serviceSettings } from '@paddock/runtime/service-settings';
import { type Environment, optional, type SettingsOf, text } from '@paddock/runtime/settings';

export const settings = {
  databaseUrl: serviceSettings.databaseUrl,
  sslMode: serviceSettings.sslMode,
  schema: serviceSettings.schema,
  serviceRole: optional(
    text({
      env: 'PADDOCK_SERVICE_ROLE',
      doc: 'A role that may read and write all rows, besides the roles of db/roles.sql. Set it if all services share one login',
    }),
  ),
};

export type MigrateConfig = SettingsOf<typeof settings>;

/** Reads the settings of `pnpm db:migrate`. Throws one ConfigError that names every problem. */
export function readMigrateConfig(environment: Environment): MigrateConfig {
  return readConfig({ settings, rules: {} }, environment, () => ({}));
}
