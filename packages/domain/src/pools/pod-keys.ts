import { z } from 'zod';
import { asList, asRecord, isRecord } from './as-record.ts';
import { objectName } from './kubernetes-names.ts';
import { nodeSelector, tolerations } from './node-choice.ts';
import { type PodTemplate, RUNNER_CONTAINER, templateRunner } from './pod-template.ts';
import { resources } from './resources.ts';

/** The pod fields that most pools need, with Kubernetes' names. The template has all others. */
export const podKeys = {
  resources: resources
    .optional()
    .describe(
      "Requests and limits of the runner's container, devices included; those of other containers stand in the template.",
    ),
  nodeSelector: nodeSelector
    .optional()
    .describe("Labels that a node must have, beside the template's."),
  tolerations: tolerations
    .optional()
    .describe("Taints of nodes that keep none of its pods away, beside the template's."),
  priorityClassName: objectName.optional().describe('Which pods go first when nodes are full.'),
  terminationGracePeriodSeconds: z
    .int()
    .min(0)
    .optional()
    .describe('How long a pod that is deleted may take to end; 30 by default.'),
};

export type PodKeys = z.infer<z.ZodObject<typeof podKeys>>;

/** A pool's template with the pool's own keys put into it. */
export function templateWithKeys(
  pool: PodKeys & { readonly template?: PodTemplate | undefined },
): PodTemplate {
  const { template, priorityClassName, terminationGracePeriodSeconds } = pool;
  const spec = template?.spec ?? {};
  const laid = {
    priorityClassName,
    terminationGracePeriodSeconds,
    nodeSelector: isSaid(pool.nodeSelector)
      ? { ...asRecord(spec['nodeSelector']), ...pool.nodeSelector }
      : undefined,
    tolerations: isSaid(pool.tolerations)
      ? [...asList(spec['tolerations']), ...pool.tolerations]
      : undefined,
    containers: isSaid(pool.resources)
      ? withRunner(spec.containers ?? [], { resources: pool.resources })
      : undefined,
  };
  return {
    ...template,
    spec: {
      ...spec,
      ...Object.fromEntries(Object.entries(laid).filter(([, value]) => value !== undefined)),
    },
  };
}

type Containers = NonNullable<NonNullable<PodTemplate['spec']>['containers']>;

/** Adds fields to the runner's container. Its position among the others does not matter. */
function withRunner(containers: Containers, fields: object): Containers {
  const runner = containers.find(({ name }) => name === RUNNER_CONTAINER) ?? {
    name: RUNNER_CONTAINER,
  };
  return [...containers.filter(({ name }) => name !== RUNNER_CONTAINER), { ...runner, ...fields }];
}

const ONE_OF_THEM = 'too: keep it in one of the two places';

/**
 * Refuses keys that pool and template both set, if only one could count. Node labels and
 * tolerations add up, so there only one label with two values is refused. Takes the unchecked pool,
 * so that an operator sees all problems at once.
 */
export function refuseDuplicateKeys(written: unknown, context: z.RefinementCtx): void {
  const pool = asRecord(written);
  const spec = asRecord(asRecord(pool['template'])['spec']);
  const report = (path: string[], message: string) =>
    context.addIssue({ code: 'custom', path, message });
  for (const key of ['priorityClassName', 'terminationGracePeriodSeconds']) {
    if (isSaid(pool[key]) && isSaid(spec[key]))
      report([key], `stands in template.spec.${key} ${ONE_OF_THEM}`);
  }
  if (isSaid(pool['resources']) && isSaid(templateRunner(pool['template'])?.['resources'])) {
    report(['resources'], `stands in the template's container ${RUNNER_CONTAINER} ${ONE_OF_THEM}`);
  }
  const theirLabels = asRecord(spec['nodeSelector']);
  for (const [label, value] of Object.entries(asRecord(pool['nodeSelector']))) {
    if (Object.hasOwn(theirLabels, label) && theirLabels[label] !== value) {
      report(
        ['nodeSelector', label],
        'has another value in template.spec.nodeSelector: keep one of the two',
      );
    }
  }
  const shapes = {
    nodeSelector: [isRecord, 'a mapping'],
    tolerations: [Array.isArray, 'a list'],
  } as const;
  for (const [key, [isRight, wanted]] of Object.entries(shapes)) {
    if (isSaid(pool[key]) && isSaid(spec[key]) && !isRight(spec[key]))
      report(['template', 'spec', key], `must be ${wanted}`);
  }
}

/** In YAML a key without a value is null. An empty mapping or list counts as absent, too. */
function isSaid<T>(value: T): value is NonNullable<T> {
  return (
    value !== undefined &&
    value !== null &&
    (typeof value !== 'object' || Object.keys(value).length > 0)
  );
}
