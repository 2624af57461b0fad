import { configJsonSchema } from '@paddock/domain/pools/config-file';
import { signInFile } from '../../apps/console/src/sign-in/sign-in-file.ts';
import type { Declarations } from '@paddock/runtime/settings';
import { z } from 'zod';

// What the chart's values may be. What Kubernetes defines is left to Kubernetes.

const text = z.string();
const flag = z.boolean();
const texts = z.record(text, text);
const objects = z.array(z.looseObject({}));
const anything = z.looseObject({});
const port = z.int().min(1).max(65_535);
const replicas = z.int().min(1);

/** As 203.0.113.0/24 or 2001:db8::/32. */
const addressRange = text.regex(/^[0-9a-fA-F:.]+\/[0-9]{1,3}$/);
const digest = text.regex(/^(?:sha256:[0-9a-f]{64})?$/);
/** A part of an object's name. */
const name = text.regex(/^(?:[a-z](?:[a-z0-9-]*[a-z0-9])?)?$/);

/**
 * What a setting may be. Numbers are numbers here, for a template must compare them. A port is in a
 * container's list, so it cannot be a free one.
 */
function valueOf({ env, range }: Declarations[string]) {
  const [, min, max] = /^(\d+) to (\d+)$/.exec(range ?? '') ?? [];
  if (max !== undefined)
    return z
      .int()
      .min(Math.max(Number(min), env.endsWith('_PORT') ? 1 : 0))
      .max(Number(max));
  return range === undefined ? text : z.enum(range.split(', '));
}

const secretKey = z.strictObject({ name: text, key: text.min(1) });
const image = z.strictObject({
  repository: text.min(1),
  tag: text,
  digest,
});

const placement = {
  priorityClassName: text,
  nodeSelector: texts,
  tolerations: objects,
  affinity: anything,
  topologySpreadConstraints: objects,
};
const additions = { env: objects, volumes: objects, volumeMounts: objects };

const resources = z.strictObject({
  requests: anything.optional(),
  limits: anything.optional(),
  claims: objects.optional(),
});

const service = {
  replicas,
  resources,
  disruptionBudget: z.strictObject({
    enabled: flag,
    maxUnavailable: z.union([z.int().min(1), text.regex(/^[1-9]\d?%$/)]),
  }),
  serviceAccount: z.strictObject({ annotations: texts }),
  podAnnotations: texts,
  podLabels: texts,
  ...placement,
  ...additions,
};

/** How those outside reach a service. */
const ways = {
  service: z.strictObject({
    type: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']),
    port,
    annotations: texts,
  }),
  ingress: z.strictObject({
    enabled: flag,
    className: text,
    annotations: texts,
    host: text,
    tlsSecret: text,
  }),
  gateway: z.strictObject({
    enabled: flag,
    annotations: texts,
    hostnames: z.array(text.min(1)),
    parentRefs: objects,
  }),
};

/** Empty by default: nobody signs in without a token. */
const { groups, oidc, proxy } = signInFile.shape;
const signIn = z.strictObject({ groups: groups.optional(), oidc, proxy });

const valuesWith = (settings: z.ZodRawShape) =>
  z.strictObject({
    // Helm passes it to every chart that is a part of another.
    global: anything.optional(),
    config: anything,
    credentials: z.strictObject({
      webhook: z.strictObject({ existingSecret: text }),
      app: z.strictObject({ existingSecret: text }),
      signIn: z.strictObject({ existingSecret: text }),
    }),
    database: z.strictObject({
      existingSecret: secretKey,
      logins: z.strictObject({
        ingress: secretKey,
        scheduler: secretKey,
        reconciler: secretKey,
        console: secretKey,
        migrate: secretKey,
      }),
      certificateAuthority: z.strictObject({ configMap: text, secret: text }),
    }),
    settings: z.strictObject(settings),
    env: objects,
    image: z.strictObject({
      registry: text,
      pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']),
      pullSecrets: z.array(z.strictObject({ name: text.min(1) })),
      ingress: image,
      scheduler: image,
      reconciler: image,
      console: image,
      migrate: image,
    }),
    ingress: z.strictObject({
      ...service,
      autoscaling: z.strictObject({
        enabled: flag,
        minReplicas: replicas,
        maxReplicas: replicas,
        targetCPUUtilizationPercentage: z.int().min(1),
      }),
    }),
    scheduler: z.strictObject(service),
    reconciler: z.strictObject(service),
    console: z.strictObject({ enabled: flag, signIn, ...service, ...ways }),
    migration: z.strictObject({
      enabled: flag,
      hook: flag,
      resources,
      nodeSelector: texts,
      tolerations: objects,
      ...additions,
    }),
    webhook: z.strictObject(ways),
    runners: z.strictObject({
      rbac: z.strictObject({ enabled: flag }),
      networkPolicy: z.strictObject({
        enabled: flag,
        alsoClosed: z.array(addressRange),
        egress: objects,
      }),
      disruptionBudget: z.strictObject({ enabled: flag }),
    }),
    networkPolicy: z.strictObject({
      enabled: flag,
      metricsFrom: z.array(texts),
      consoleFrom: objects,
      databasePort: port,
    }),
    monitoring: z.strictObject({
      podMonitor: z.strictObject({ enabled: flag, interval: text, labels: texts }),
    }),
    evaluation: z.strictObject({
      enabled: flag,
      image: text.min(1),
      digest,
      password: text.regex(/^[A-Za-z0-9]*$/),
      storage: text.min(1),
      storageClassName: text,
    }),
    extraObjects: objects,
    fullnameOverride: name,
  });

/** What this reads of a JSON Schema. */
export interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

/** Values of their own give these. */
const GIVEN = new Set(['DATABASE_URL', 'PADDOCK_CONFIG', 'PADDOCK_SIGN_IN']);

/**
 * The JSON Schema of the chart's values. `config` is the schema of the services' file; `settings`
 * has the variables of `programs`.
 */
export function helmValuesSchema(programs: readonly Declarations[]): JsonSchema {
  const settings = Object.fromEntries(
    programs
      .flatMap((declared) => Object.values(declared))
      .filter(({ env }) => !GIVEN.has(env))
      .map((setting) => [setting.env, valueOf(setting).optional()] as const),
  );
  const schema = z.toJSONSchema(valuesWith(settings), { io: 'input', target: 'draft-7' });
  const { $schema: _, ...config } = configJsonSchema() as Record<string, unknown>;
  return withKeysTold(
    withoutLookahead({ ...schema, properties: { ...schema.properties, config } }),
  );
}

/**
 * A map that takes no other keys than its own tells them: Helm prints `else` beside the unknown
 * key. No map is equal to a text, so the condition refuses what `additionalProperties` refuses.
 */
const withKeysTold = (schema: object): JsonSchema =>
  JSON.parse(
    JSON.stringify(schema, (_, value: unknown) => {
      if (!isStrictMap(value)) return value;
      const keys = Object.keys(value.properties).toSorted();
      return {
        ...value,
        if: { propertyNames: { enum: keys } },
        else: { const: `a map with no other keys than ${keys.join(', ')}` },
      };
    }),
  ) as JsonSchema;

const isStrictMap = (value: unknown): value is { readonly properties: object } =>
  typeof value === 'object' &&
  value !== null &&
  'properties' in value &&
  'additionalProperties' in value &&
  value.additionalProperties === false;

/**
 * Helm's regular expressions have no lookahead, which the services' schema uses for lengths. The
 * services check these.
 */
const withoutLookahead = (schema: object): JsonSchema =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === 'pattern' && typeof value === 'string'
        ? value.replaceAll(/\(\?=(?:[^()]|\([^()]*\))*\)/g, '')
        : value,
    ),
  ) as JsonSchema;
