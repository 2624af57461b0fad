import { readConfig } from '@paddock/runtime/read-config';
import { healthPort, httpPort, serviceSettings } from '@paddock/runtime/service-settings';
import { type Environment, integer, optional, text } from '@paddock/runtime/settings';
import { consoleRules } from './rules.ts';
import { readSignIn } from './sign-in/sign-in-file.ts';

// No configuration file: it names credentials that this service must not have. The pools in force
// are in the database. The one credential of its own is the client's secret at the identity provider.
const { databaseUrl, sslMode, passFile, schema, httpHost, logLevel, drainMs } = serviceSettings;

export const settings = {
  databaseUrl,
  sslMode,
  passFile,
  schema,
  httpHost,
  logLevel,
  drainMs,
  httpPort: httpPort(8084),
  healthPort: healthPort(8085),
  signInFile: optional(
    text({
      env: 'PADDOCK_SIGN_IN',
      doc: 'Path of a file (YAML) that says who may sign in by an identity provider or a proxy',
    }),
  ),
  poolSize: integer({
    env: 'PADDOCK_CONSOLE_POOL_SIZE',
    default: 6,
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
};

const rules = { console: consoleRules };

/** Reads the settings, and the file about signing in. Throws one ConfigError with all problems. */
export const readConsoleConfig = (environment: Environment) =>
  readConfig({ settings, rules }, environment, ({ signInFile }, problems) => ({
    signIn: readSignIn(signInFile, environment, problems),
  }));
