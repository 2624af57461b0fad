import { z } from 'zod';

const wordsOf = (text: string): string[] => text.trim().split(/\s+/);

const OF_POD_SPEC = wordsOf(`
  activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy
  hostAliases hostNetwork imagePullSecrets initContainers runtimeClassName schedulerName
  securityContext serviceAccountName topologySpreadConstraints volumes`);
const OF_CONTAINER = wordsOf(`
  args command env envFrom imagePullPolicy lifecycle volumeMounts workingDir`);

/** Keys of actions-runner-controller's scale sets, which its users paste. */
const OF_SCALE_SETS = {
  githubConfigUrl:
    'has no counterpart: runners register where the jobs come from, and entities says whose jobs are served',
  githubConfigSecret: 'has no counterpart: write the App and the place of its key in github.apps',
  githubServerTLS: 'is called caBundle here, a key of a pool',
  maxRunners: 'is called maxWorkers here, a key of a pool',
  minRunners: 'is called warm here, a key of a pool: a list of scope and workers',
  runnerScaleSetName:
    'has no counterpart: jobs find a pool by its labels, and such a name may be one of them',
  scaleSetLabels: 'is called labels here, a key of a pool',
  controllerServiceAccount: 'has no counterpart: each service has its own service account',
  listenerTemplate: 'has no counterpart: there is no listener',
  listenerMetrics: 'has no counterpart: there is no listener',
};

const sentences = (
  keys: readonly string[],
  sentence: (key: string) => string,
): Record<string, string> => Object.fromEntries(keys.map((key) => [key, sentence(key)]));

const OF_A_POOL = {
  ...OF_SCALE_SETS,
  ...sentences(OF_POD_SPEC, (key) => `is the template's: write it as template.spec.${key}`),
  ...sentences(
    OF_CONTAINER,
    () => "is the template's: write it in template.spec.containers, in the container named runner",
  ),
  ...sentences(['cpu', 'memory', 'requests', 'limits'], () => 'must stand in resources'),
  gpu: 'must stand in resources, in limits, by the name of the device, such as nvidia.com/gpu',
  metadata: "is the template's: write it as template.metadata",
  annotations: "is the template's: write it as template.metadata.annotations",
  spec: "is the template's: write it as template.spec",
};

const OF_A_TEMPLATE = sentences(
  [...OF_POD_SPEC, 'nodeSelector', 'tolerations'],
  (key) => `must stand in spec: write it as template.spec.${key}`,
);

const OF_RESOURCES = {
  ...sentences(
    ['cpu', 'memory', 'ephemeral-storage', 'nvidia.com/gpu'],
    () => 'must stand in requests, limits or both',
  ),
  claims: "is the template's: write resources with claims there, in the container named runner",
};

/** Refuses keys, and says where they belong. No valid value has them, so it has no type. */
const refused = (messages: Readonly<Record<string, string>>): object =>
  Object.fromEntries(
    Object.entries(messages).map(([key, error]) => [key, z.never({ error }).optional()]),
  );

export const misplacedInPools = refused(OF_A_POOL);
export const misplacedInResources = refused(OF_RESOURCES);
export const misplacedInTemplates = refused(OF_A_TEMPLATE);
/** At the file's top, where operators with one pool may write the pool's keys. */
export const misplacedInFile = (keysOfPools: readonly string[]): object =>
  refused({
    ...sentences(keysOfPools, () => 'is a key of a pool: write it in an item of pools'),
    ...OF_SCALE_SETS,
  });

export function withoutRefused({
  jsonSchema,
}: {
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}): void {
  for (const [key, property] of Object.entries(jsonSchema.properties ?? {})) {
    if (typeof property === 'object' && property.not !== undefined)
      delete jsonSchema.properties?.[key];
  }
}
