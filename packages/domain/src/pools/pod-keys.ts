import { z } from 'zod';
import { asList, asRecord, isRecord } from './as-record.ts';
import { misplacedInResources } from './misplaced-keys.ts';
import { type PodTemplate, RUNNER_CONTAINER } from './pod-template.ts';

const amount = z.union([z.string(), z.number()], 'must be an amount, such as 500m, 2Gi or 1');
const amounts = z.record(z.string(), amount);

/**
 * The pod fields that most pools need, with Kubernetes' names and shapes; the cluster judges their
 * values. The template has all others.
 */
export const podKeys = {
  resources: z
    .strictObject({
      ...misplacedInResources,
      requests: amounts.optional(),
      limits: amounts.optional(),
    })
    .optional()
    .describe(
      "Requests and limits of the runner's container, devices included; those of other containers stand in the template.",
    ),
  nodeSelector: z
    .record(z.string(), z.string())
    .optional()
    .describe("Labels that a node must have, beside the template's."),
  tolerations: z
    .array(
      z.strictObject({
        key: z.string().optional(),
        operator: z.enum(['Exists', 'Equal'], 'must be Exists or Equal').optional(),
        value: z.string().optional(),
        effect: z
          .enum(
            ['NoSchedule', 'PreferNoSchedule', 'NoExecute'],
            'must be NoSchedule, PreferNoSchedule or NoExecute; without it all of them',
          )
          .optional(),
        tolerationSeconds: z.int().optional(),
      }),
    )
    .optional()
    .describe("Taints of nodes that keep none of its pods away, beside the template's."),
  priorityClassName: z.string().optional().describe('Which pods go first when nodes are full.'),
  terminationGracePeriodSeconds: z
    .int()
    .min(0)
    .optional()
    .describe('How long a pod that is deleted may take to end; 30 by default.'),
};

export type PodKeys = z.infer<z.ZodObject<typeof podKeys>>;

/** With the pool's own keys put into it. They win; labels of nodes and tolerations add up. */
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

/** An empty mapping or list counts as absent. */
const isSaid = <T extends object>(value: T | undefined): value is T =>
  value !== undefined && Object.keys(value).length > 0;

const HOOKS =
  'is written out here: leave containerMode out, and put the hooks into the template, as docs/kubernetes-mode.md shows';

export const containerMode = z.enum(['none', 'dind'], {
  error: ({ input }) => {
    const type = isRecord(input) ? input['type'] : input;
    if (type === 'kubernetes' || type === 'kubernetes-novolume') return `${type} ${HOOKS}`;
    return `must be none or dind, or be left out${type === input ? '' : ': written without `type`'}`;
  },
});

const NO_PROXY = 'must be an address such as http://proxy.example.com:3128';

/** Credentials in an address would be readable in the database and in every pod. */
const proxyUrl = z
  .url({
    abort: true,
    error: ({ input }) => NO_PROXY + (typeof input === 'object' ? ', written without `url`' : ''),
  })
  .regex(/^https?:\/\/[^\s/]+/, NO_PROXY)
  .regex(
    /^[^@]*$/,
    'must hold no user and password: set HTTPS_PROXY in the template, from a Secret, instead',
  );

export const proxy = z
  .strictObject({
    http: proxyUrl.optional(),
    https: proxyUrl.optional(),
    noProxy: z.array(z.string().min(1)).optional(),
  })
  .refine(
    ({ http, https }) => http !== undefined || https !== undefined,
    'needs http, https or both',
  )
  .meta({ anyOf: [{ required: ['http'] }, { required: ['https'] }] });

/** In the pool's namespace, with certificates (PEM) that runner and Docker daemon also trust. */
export const caBundle = z.strictObject({
  configMap: z.string().min(1),
  key: z
    .string()
    .regex(
      /^[A-Za-z0-9._-]+\.crt$/,
      'must be a key that ends in .crt: the tools that update the trusted certificates look at no other file',
    )
    .default('ca.crt'),
});

export type Proxy = z.infer<typeof proxy>;
export type CaBundle = z.infer<typeof caBundle>;
