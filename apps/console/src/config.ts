import { readConfig } from '@paddock/runtime/read-config';
import { serviceSettings } from '@paddock/runtime/service-settings';
import {
  duration,
  type Environment,
  integer,
  optional,
  port,
  type SettingsOf,
  text,
  tuning,
} from '@paddock/runtime/settings';
import { readSignIn, type SignIn } from './sign-in/read-sign-in.ts';

// No configuration file: it names credentials that this service must not have. The pools in force
// are in the database. The one credential of its own is the client's secret at the identity provider.
const { databaseUrl, sslMode, schema, httpHost, logLevel, drainMs } = serviceSettings;

export const settings = {
  databaseUrl,
  sslMode,
  schema,
  httpHost,
  logLevel,
  drainMs,
  httpPort: port({
    env: 'PADDOCK_CONSOLE_HTTP_PORT',
    default: 8084,
    doc: 'Port of the API and the page',
  }),
  signInFile: optional(
    text({
      env: 'PADDOCK_SIGN_IN',
      doc: 'Path of a file (YAML) that says who may sign in by an identity provider or a proxy',
    }),
  ),
  ...tuning({
    healthPort: port({
      env: 'PADDOCK_CONSOLE_HEALTH_PORT',
      default: 8085,
      doc: 'Port of health and metrics',
    }),
    poolSize: integer({
      env: 'PADDOCK_CONSOLE_POOL_SIZE',
      default: 14,
      min: 4,
      max: 100,
      doc: 'Connections to PostgreSQL; one caller has at most half of them at a time',
    }),
    pathPrefix: text({
      env: 'PADDOCK_CONSOLE_PATH_PREFIX',
      default: '',
      pattern: /^(\/[\w.-]+)*$/,
      hint: 'must begin with a slash and end without one, as /paddock',
      doc: 'Path at which a proxy has the console, as `/paddock`, if the proxy does not take it off',
    }),
    lookEveryMs: duration({
      env: 'PADDOCK_CONSOLE_LOOK_EVERY_MS',
      default: 2_000,
      min: 50,
      max: 60_000,
      doc: 'How often to look for changes, for all open pages together',
    }),
    statementTimeoutMs: duration({
      env: 'PADDOCK_CONSOLE_STATEMENT_TIMEOUT_MS',
      default: 5_000,
      min: 50,
      max: 60_000,
      doc: 'Longest time for one statement of an answer, and for a connection',
    }),
  }),
};

export type ConsoleConfig = SettingsOf<typeof settings> & { readonly signIn: SignIn };

/** Reads the settings, and the file about signing in. Throws one ConfigError with all problems. */
export const readConsoleConfig = (environment: Environment): ConsoleConfig =>
  readConfig(settings, environment, ({ signInFile }, problems) => ({
    signIn: readSignIn(signInFile, environment, problems),
  }));
