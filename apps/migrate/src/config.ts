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
      doc: 'One role for all services, which is granted reading and writing of all rows, beside the roles of db/roles.sql. Absent: it is granted to none',
    }),
  ),
};

export type MigrateConfig = SettingsOf<typeof settings>;

/** Reads the settings of `pnpm db:migrate`. Throws one ConfigError that names every problem. */
export function readMigrateConfig(environment: Environment): MigrateConfig {
  return readConfig(settings, environment, () => ({}));
}
