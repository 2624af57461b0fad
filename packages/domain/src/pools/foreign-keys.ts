import { z } from 'zod';

const OF_POD_SPEC = [
  ...'activeDeadlineSeconds automountServiceAccountToken affinity containers dnsConfig dnsPolicy hostAliases hostNetwork'.split(' '),
  ...'imagePullSecrets initContainers runtimeClassName schedulerName securityContext serviceAccountName'.split(' '),
  ...'topologySpreadConstraints volumes'.split(' '),
];
const OF_CONTAINER = 'args command env envFrom imagePullPolicy lifecycle volumeMounts workingDir'.split(' ');

/** Of the values of actions-runner-controller's scale sets; whoever comes from there pastes them. */
const OF_SCALE_SETS = {
  githubConfigUrl: 'has no counterpart: runners register where the jobs come from; whose jobs are served stands in entities',
  githubConfigSecret: 'has no counterpart: the App and where its key is found stand in github.apps',
  githubServerTLS: 'is called caBundle here, a key of a pool',
  maxRunners: 'is called maxWorkers here, a key of a pool',
  minRunners: 'is called warm here, a key of a pool: a list of scope and workers',
  runnerScaleSetName: 'has no counterpart: jobs find a pool by its labels, and such a name may be one of them',
  scaleSetLabels: 'is called labels here, a key of a pool',
  controllerServiceAccount: 'has no counterpart: the services have entities of their own',
  listenerTemplate: 'has no counterpart: there is no listener',
  listenerMetrics: 'has no counterpart: there is no listener',
};

const sentences = (keys: readonly string[], sentence: (key: string) => string): Record<string, string> =>
  Object.fromEntries(keys.map((key) => [key, sentence(key)]));

const OF_A_POOL = {
  ...OF_SCALE_SETS,
  ...sentences(OF_POD_SPEC, (key) => `is the template's: write it as template.spec.${key}`),
  ...sentences(OF_CONTAINER, () => "is the template's: write it in template.spec.containers, in the container named runner"),
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
  ...sentences(['cpu', 'memory', 'ephemeral-storage', 'nvidia.com/gpu'], () => 'must stand in requests, limits or both'),
  claims: "is the template's: write resources with claims there, in the container named runner",
};

/** Keys that are refused with the place where they belong. Their shape has no type: nothing that was read has them. */
const refused = (messages: Readonly<Record<string, string>>): object =>
  Object.fromEntries(Object.entries(messages).map(([key, error]) => [key, z.never({ error }).optional()]));

export const foreignToPools = refused(OF_A_POOL);
export const foreignToResources = refused(OF_RESOURCES);
export const foreignToTemplates = refused(OF_A_TEMPLATE);
/** Of the file's top, where whoever has one pool writes the pool's keys. */
export const foreignToFile = (keysOfPools: readonly string[]): object =>
  refused({ ...sentences(keysOfPools, () => 'is a key of a pool: write it in an item of pools'), ...OF_SCALE_SETS });

/** For a JSON Schema: what is refused wherever it stands is no key at all. */
export function withoutRefused({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  for (const [key, property] of Object.entries(jsonSchema.properties ?? {})) {
    if (typeof property === 'object' && property.not !== undefined) delete jsonSchema.properties?.[key];
  }
}
