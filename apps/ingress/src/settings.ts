import { deliverySettings } from '@paddock/db/deliveries/decode-delivery';
import { dbRules } from '@paddock/db/rules';
import type { GitHubPart } from '@paddock/domain/pools/config-file';
import { readGitHubPart } from '@paddock/github/follow-apps';
import { type ReadFile, readText } from '@paddock/runtime/file-reading';
import { readConfig } from '@paddock/runtime/read-config';
import { readSecret, type Secret } from '@paddock/runtime/secret';
import { healthPort, httpPort, serviceSettings } from '@paddock/runtime/service-settings';
import { type Environment, integer } from '@paddock/runtime/settings';
import { ingressRules } from './rules.ts';

export const settings = {
  ...serviceSettings,
  httpPort: httpPort(8080),
  healthPort: healthPort(8083),
  poolSize: integer({
    env: 'PADDOCK_INGRESS_POOL_SIZE',
    default: 7,
    min: 3,
    max: 100,
    doc: 'Connections to PostgreSQL: four that write deliveries, and at least two more',
  }),
  maxHeldBytes: integer({
    env: 'PADDOCK_MAX_HELD_BYTES',
    default: 268_435_456,
    min: 1_048_576,
    max: 17_179_869_184,
    doc: 'Memory for the bodies of deliveries; what would exceed it gets a 503. Raise the pod’s memory limit with it',
  }),
  ...deliverySettings,
};

const rules = { ingress: ingressRules, db: dbRules };

/** Connections besides the writers': one for readiness, one for reading. */
const OTHER_CONNECTIONS = 2;

/** Memory that large bodies leave to ordinary ones. */
const LEAST_ORDINARY_BYTES = 1_048_576;

/** The least values of settings that these rules allow. */
export const leastFor = (given: { readonly writers: number; readonly maxBodyBytes: number }) => ({
  poolSize: given.writers + OTHER_CONNECTIONS,
  maxHeldBytes: given.maxBodyBytes + LEAST_ORDINARY_BYTES,
});

export interface AppSecrets {
  readonly id: number;
  /** Two while the operator replaces the webhook secret, else one. */
  readonly secrets: readonly Secret[];
}

/**
 * Reads the settings, their file and the webhook secrets. Throws one ConfigError with all problems.
 */
export function readIngressConfig(environment: Environment) {
  return readConfig(
    { settings, rules },
    environment,
    ({ configPath, poolSize, writers, maxBodyBytes, maxHeldBytes }, problems) => {
      const least = leastFor({ writers, maxBodyBytes });
      if (maxHeldBytes !== undefined && maxHeldBytes < least.maxHeldBytes) {
        problems.push(
          `PADDOCK_MAX_HELD_BYTES must be at least ${least.maxHeldBytes}: the largest body and 1 MB more`,
        );
      }
      if (poolSize !== undefined && poolSize < least.poolSize) {
        problems.push(
          `PADDOCK_INGRESS_POOL_SIZE must be at least ${least.poolSize}: ${writers} that write deliveries and ${OTHER_CONNECTIONS} more`,
        );
      }
      if (configPath === undefined) return undefined;
      const file = readGitHubPart(configPath, problems);
      return file && { apps: readApps(file, environment, problems) };
    },
  );
}

/** Other services may use Apps without a webhook secret. Ingress refuses their deliveries. */
export function readApps(
  { github }: GitHubPart,
  environment: Environment,
  problems: string[],
  readFile: ReadFile = readText,
): AppSecrets[] {
  const withSecret = github.apps.filter(({ webhookSecret }) => webhookSecret !== undefined);
  if (withSecret.length === 0)
    problems.push('github.apps: no App has a webhookSecret, so no delivery could be verified');
  for (const { id, webhookSecret, previousWebhookSecret } of github.apps) {
    if (webhookSecret === undefined && previousWebhookSecret !== undefined) {
      problems.push(`App ${id} has a previousWebhookSecret but no webhookSecret`);
    }
  }
  const apps = withSecret.map(({ id, webhookSecret, previousWebhookSecret }) => {
    const read = (which: string, source: typeof webhookSecret) =>
      source && readSecret(`The ${which} of App ${id}`, source, environment, problems, readFile);
    const secrets = [
      read('webhook secret', webhookSecret),
      read('previous webhook secret', previousWebhookSecret),
    ];
    return { id, secrets: secrets.filter((secret) => secret !== undefined) };
  });
  problems.push(...sharedSecrets(apps));
  return apps;
}

/** A delivery names its App in an unsigned header, so only the secret tells two Apps apart. */
function sharedSecrets(apps: readonly AppSecrets[]): string[] {
  return apps.flatMap(({ id, secrets }, index) => {
    const own = new Set(secrets.map((secret) => secret.reveal()));
    const others = apps
      .slice(index + 1)
      .filter((other) => other.secrets.some((secret) => own.has(secret.reveal())));
    return others.map(
      (other) =>
        `Apps ${id} and ${other.id} share a webhook secret, current or previous: give each one of its own`,
    );
  });
}
