import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configJsonSchema } from '@paddock/domain/pools/config-file';
import type { Declarations } from '@paddock/runtime/settings';
import { parse } from 'yaml';
import { z } from 'zod';
import { settings as consoleSettings } from '../../apps/console/src/settings.ts';
import { signInFile } from '../../apps/console/src/sign-in/sign-in-file.ts';
import { leastFor, settings as ingress } from '../../apps/ingress/src/settings.ts';
import { ingressRules } from '../../apps/ingress/src/rules.ts';
import { settings as migrate } from '../../apps/migrate/src/settings.ts';
import { settings as reconciler } from '../../apps/reconciler/src/settings.ts';
import { settings as scheduler } from '../../apps/scheduler/src/settings.ts';

export const PROGRAMS: Readonly<Record<string, Declarations>> = {
  ingress,
  scheduler,
  reconciler,
  'db:migrate': migrate,
  console: consoleSettings,
};

const text = z.string();
const some = text.min(1);
const texts = z.record(text, text);
const objects = z.array(z.looseObject({}));
const anything = z.looseObject({});
const port = z.int().min(1).max(65_535);

const { writers, maxBodyBytes } = ingressRules;
const least = leastFor({ writers: writers.value, maxBodyBytes: maxBodyBytes.value });
const LEAST: Readonly<Record<string, number>> = {
  [ingress.poolSize.env]: least.poolSize,
  [ingress.maxHeldBytes.env]: least.maxHeldBytes,
};

/**
 * What a setting may be. Numbers are numbers here, for a template must compare them. A port is in a
 * container's list, so it cannot be a free one.
 */
function valueOf({ env, range, schema }: Declarations[string]): z.ZodType {
  const [, min, max] = /^(\d+) to (\d+)$/.exec(range ?? '') ?? [];
  if (max !== undefined)
    return z
      .int()
      .min(Math.max(Number(min), env.endsWith('_PORT') ? 1 : (LEAST[env] ?? 0)))
      .max(Number(max));
  return range === undefined ? schema : z.enum(range.split(', '));
}

/** The chart's default has none of these, so people need a token to sign in. */
const { groups, oidc, proxy } = signInFile.shape;

/**
 * Values whose defaults do not say what they may be, by their key, or with the key above. What
 * Kubernetes defines is left to Kubernetes.
 */
const SPECIAL: Readonly<Record<string, z.ZodType>> = {
  config: anything,
  resources: z.strictObject({
    requests: anything.optional(),
    limits: anything.optional(),
    claims: objects.optional(),
  }),
  affinity: anything,
  pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']),
  pullSecrets: z.array(z.strictObject({ name: some })),
  type: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']),
  port,
  databasePort: port,
  // A template says when.
  'ingress.replicas': z.int().min(0),
  maxUnavailable: z.union([z.int().min(1), text.regex(/^[1-9]\d?%$/)]),
  'service.spec': anything,
  'existingSecret.key': text,
  'console.signIn': z.strictObject({ groups: groups.optional(), oidc, proxy }),
  hostnames: z.array(some),
  'rules.without': z.array(text.regex(/^Paddock/)),
  // As 203.0.113.0/24 or 2001:db8::/32.
  alsoClosed: z.array(text.regex(/^[0-9a-fA-F:.]+\/[0-9]{1,3}$/)),
  metricsFrom: z.array(texts),
  key: some,
  digest: text.regex(/^(?:sha256:[0-9a-f]{64})?$/),
  'evaluation.image': some,
  password: text.regex(/^[A-Za-z0-9]*$/),
  storage: some,
  // A part of an object's name.
  fullnameOverride: text.regex(/^(?:[a-z](?:[a-z0-9-]*[a-z0-9])?)?$/),
};

/** What may stand where `given` is the default: the same kind of value, with the same keys. */
function shapeOf(given: unknown, name: string, above: string): z.ZodType {
  const special = SPECIAL[`${above}.${name}`] ?? SPECIAL[name];
  if (special !== undefined) return special;
  if (Array.isArray(given)) return objects;
  if (typeof given === 'boolean') return z.boolean();
  if (typeof given === 'number') return z.int().min(1);
  if (typeof given !== 'object' || given === null) return text;
  const shapes = shapesOf(given, name);
  return Object.keys(shapes).length === 0 ? texts : z.strictObject(shapes);
}

const shapesOf = (given: object, above: string): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, shapeOf(value, key, above)]),
  );

/** Values of their own give these. */
const GIVEN = new Set(['DATABASE_URL', 'PADDOCK_CONFIG', 'PADDOCK_SIGN_IN']);

/**
 * Helm's regular expressions have no lookahead, which the services' schema uses for lengths and for
 * one prefix; the services check these. No App is right for `helm lint` alone: a template says of it
 * what is allowed.
 */
const fitForHelm = (schema: object): object =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => {
      if (key === 'apps') return Object.assign({}, value, { minItems: 0 });
      return key === 'pattern' && typeof value === 'string'
        ? value.replaceAll(/\(\?[=!](?:[^()]|\([^()]*\))*\)/g, '')
        : value;
    }),
  ) as object;

const DEPLOYED = join(import.meta.dirname, '../../deploy/helm');
const values = parse(readFileSync(join(DEPLOYED, 'paddock/values.yaml'), 'utf8')) as object;
const settings = Object.fromEntries(
  Object.values(PROGRAMS)
    .flatMap((declared) => Object.values(declared))
    .filter(({ env }) => !GIVEN.has(env))
    .map((setting) => [setting.env, valueOf(setting).optional()] as const),
);
const all = z.strictObject({
  ...shapesOf(values, ''),
  settings: z.strictObject(settings),
  // Helm passes it to every chart that is a part of another.
  global: anything.optional(),
});
const schema = z.toJSONSchema(all, { io: 'input', target: 'draft-7' });
const { $schema: _, ...config } = configJsonSchema() as Record<string, unknown>;

/**
 * The JSON Schema of the chart's values, from the defaults. `config` is the schema of the services'
 * file; `settings` has their variables.
 */
export const CHART_SCHEMA = fitForHelm({ ...schema, properties: { ...schema.properties, config } });

/**
 * Writes the schema where Helm reads it. Tests that run side by side all do, so the file changes in
 * one step, and only if it must.
 */
export function writeChartSchema(): void {
  const path = join(DEPLOYED, 'paddock/values.schema.json');
  const written = `${JSON.stringify(CHART_SCHEMA, undefined, 2)}\n`;
  if (existsSync(path) && readFileSync(path, 'utf8') === written) return;
  const beside = join(DEPLOYED, `values.schema.${process.pid}.log`);
  writeFileSync(beside, written);
  renameSync(beside, path);
}
