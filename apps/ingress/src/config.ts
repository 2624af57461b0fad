import { poolsSettings } from '@paddock/db/pools/pools-settings';
import { configFile, type ConfigFile } from '@paddock/domain/pools/config-file';
import { readConfig } from '@paddock/runtime/read-config';
import { readSecret } from '@paddock/runtime/read-secret';
import type { Secret } from '@paddock/runtime/secret';
import { serviceSettings } from '@paddock/runtime/service-settings';
import { choice, type Environment, integer, type SettingsOf, text } from '@paddock/runtime/settings';
import { readYamlFile } from '@paddock/runtime/yaml-file';

export const settings = {
  ...serviceSettings,
  configPath: text({ env: 'PADDOCK_CONFIG', doc: 'The configuration file (YAML): GitHub Apps, pools, entities' }),
  httpPort: integer({
    env: 'PADDOCK_INGRESS_HTTP_PORT',
    doc: 'Port of the webhook; 0 takes a free one',
    default: 8080,
    min: 0,
    max: 65_535,
  }),
  healthPort: integer({
    env: 'PADDOCK_INGRESS_HEALTH_PORT',
    doc: 'Port of health and metrics; 0 takes a free one',
    default: 8083,
    min: 0,
    max: 65_535,
  }),
  poolSize: integer({ env: 'PADDOCK_INGRESS_POOL_SIZE', doc: 'Connections to PostgreSQL', default: 10, min: 3, max: 100 }),
  maxBodyBytes: integer({
    env: 'PADDOCK_MAX_BODY_BYTES',
    doc: 'Largest body of a delivery; GitHub sends at most 25 MB',
    default: 26_214_400,
    min: 1_024,
    max: 104_857_600,
  }),
  maxHeldBytes: integer({
    env: 'PADDOCK_MAX_HELD_BYTES',
    doc: 'Bodies that are held in memory at one time, together; those above 256 KB take at most half of it, or as much as one may have. What would exceed it is refused with 503',
    default: 268_435_456,
    min: 1_048_576,
    max: 17_179_869_184,
  }),
  maxRequests: integer({
    env: 'PADDOCK_MAX_REQUESTS_IN_FLIGHT',
    doc: 'Deliveries that are received or wait to be stored at one time; any further one is refused with 503',
    default: 10_000,
    min: 1,
    max: 1_000_000,
  }),
  bodyTimeoutMs: integer({
    env: 'PADDOCK_BODY_TIMEOUT_MS',
    doc: 'Longest time for a request to arrive whole',
    default: 10_000,
    min: 100,
    max: 300_000,
  }),
  answerTimeoutMs: integer({
    env: 'PADDOCK_ANSWER_TIMEOUT_MS',
    doc: 'A delivery that is not stored after this time is answered with 503; GitHub itself waits for 10 s',
    default: 3_000,
    min: 100,
    max: 9_000,
  }),
  writeTimeoutMs: integer({
    env: 'PADDOCK_WRITE_TIMEOUT_MS',
    doc: 'Longest time for connecting to PostgreSQL, and for one transaction of deliveries; a statement may take four fifths of it',
    default: 2_500,
    min: 50,
    max: 9_000,
  }),
  maxBatch: integer({ env: 'PADDOCK_MAX_BATCH', doc: 'Most deliveries in one transaction', default: 64, min: 1, max: 2_000 }),
  writers: integer({
    env: 'PADDOCK_INGRESS_WRITERS',
    doc: 'Transactions of deliveries at one time, each on a connection of its own',
    default: 4,
    min: 1,
    max: 50,
  }),
  ...poolsSettings,
  ignoredJobPayload: choice({
    env: 'PADDOCK_IGNORED_JOB_PAYLOAD',
    doc: 'What is stored of the payload of a job that no pool serves',
    of: ['reduced', 'full'],
    default: 'reduced',
  }),
};

/** Beside the writers' connections: one to learn whether PostgreSQL answers, one to read with. */
const OTHER_CONNECTIONS = 2;

/** What a large body must leave to ordinary ones. */
const LEAST_ORDINARY_BYTES = 1_048_576;

export interface AppSecrets {
  readonly id: number;
  /** One, or two while the webhook secret is being replaced. */
  readonly secrets: readonly Secret[];
}

export type IngressConfig = SettingsOf<typeof settings> & { readonly apps: readonly AppSecrets[] };

/** Reads the settings, the file they name and the webhook secrets. Throws one ConfigError that names every problem. */
export function readIngressConfig(environment: Environment): IngressConfig {
  return readConfig(settings, environment, ({ configPath, poolSize, writers, maxBodyBytes, maxHeldBytes }, problems) => {
    if (maxBodyBytes !== undefined && maxHeldBytes !== undefined && maxHeldBytes < maxBodyBytes + LEAST_ORDINARY_BYTES) {
      problems.push(`PADDOCK_MAX_HELD_BYTES must be at least ${maxBodyBytes + LEAST_ORDINARY_BYTES}: PADDOCK_MAX_BODY_BYTES and 1 MB more`);
    }
    if (poolSize !== undefined && writers !== undefined && poolSize < writers + OTHER_CONNECTIONS) {
      problems.push(
        `PADDOCK_INGRESS_POOL_SIZE must be at least ${writers + OTHER_CONNECTIONS}: PADDOCK_INGRESS_WRITERS and ${OTHER_CONNECTIONS} more`,
      );
    }
    if (configPath === undefined) return undefined;
    const { value, problems: inFile } = readYamlFile(configPath, configFile);
    problems.push(...inFile);
    if (value === undefined) return undefined;
    return { apps: readApps(value, environment, problems) };
  });
}

/** Apps without a webhook secret are other services' business: their deliveries are refused here. */
function readApps({ github }: ConfigFile, environment: Environment, problems: string[]): AppSecrets[] {
  const withSecret = github.apps.filter(({ webhookSecret }) => webhookSecret !== undefined);
  if (withSecret.length === 0) problems.push('github.apps: no App has a webhookSecret, so no delivery could be verified');
  for (const { id, webhookSecret, previousWebhookSecret } of github.apps) {
    if (webhookSecret === undefined && previousWebhookSecret !== undefined) {
      problems.push(`App ${id} has a previousWebhookSecret but no webhookSecret`);
    }
  }
  const apps = withSecret.map(({ id, webhookSecret, previousWebhookSecret }) => {
    const current = readSecret(`The webhook secret of App ${id}`, webhookSecret, environment, problems);
    const previous =
      previousWebhookSecret === undefined
        ? undefined
        : readSecret(`The previous webhook secret of App ${id}`, previousWebhookSecret, environment, problems);
    return { id, secrets: [current, previous].filter((secret) => secret !== undefined) };
  });
  problems.push(...sharedSecrets(apps));
  return apps;
}

/** A delivery names its App in a header that nobody signs, so that only a secret of its own tells one App's deliveries from another's. */
function sharedSecrets(apps: readonly AppSecrets[]): string[] {
  return apps.flatMap(({ id, secrets }, index) => {
    const own = new Set(secrets.map((secret) => secret.reveal()));
    const others = apps.slice(index + 1).filter((other) => other.secrets.some((secret) => own.has(secret.reveal())));
    return others.map((other) => `Apps ${id} and ${other.id} share a webhook secret, current or previous: give each one of its own`);
  });
}
