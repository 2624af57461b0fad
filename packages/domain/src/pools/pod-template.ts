import { z } from 'zod';
import { asList, asRecord } from './as-record.ts';
import { misplacedInTemplates } from './misplaced-keys.ts';

/**
 * The container that runs the job, named as actions-runner-controller names it so that its
 * templates fit.
 */
export const RUNNER_CONTAINER = 'runner';
/** The Docker daemon of `containerMode: dind`, also named as there. */
export const DAEMON_CONTAINER = 'dind';

/** Whatever has a name in a PodSpec; its other fields are the cluster's to judge. */
const named = z.looseObject({ name: z.string().min(1) });
const environment = z.array(named).nullish();
const mounts = z.array(z.looseObject({ name: z.string(), mountPath: z.string() })).nullish();
const container = named.extend({ env: environment, volumeMounts: mounts });
const marks = z.record(z.string(), z.string()).nullish();

/**
 * A template that was written out by a program says `creationTimestamp: null`, which means nothing
 * and is not kept.
 */
const metadata = z
  .strictObject({ labels: marks, annotations: marks, creationTimestamp: z.null().optional() })
  .transform(({ creationTimestamp: _none, ...kept }) => kept);

/**
 * Metadata and PodSpec of a pool's pods, as in actions-runner-controller's `template`. Only the
 * parts that ours are laid into are checked; all else is kept as it is, fields that no library
 * knows yet included.
 */
export const podTemplate = z.strictObject({
  ...misplacedInTemplates,
  metadata: metadata.nullish(),
  spec: z
    .looseObject({
      containers: z.array(container).nullish(),
      initContainers: z.array(container).nullish(),
      volumes: z.array(named).nullish(),
    })
    .superRefine(({ containers, initContainers }, context) => {
      for (const name of namedTwice(containers ?? [], initContainers ?? [])) {
        context.addIssue({ code: 'custom', path: ['containers'], message: `two containers are named ${name}` });
      }
    })
    .nullish(),
});

export type PodTemplate = z.infer<typeof podTemplate>;
export type PodTemplateContainer = z.infer<typeof container>;

/** The runner's container of a template, if it has one; the template may be unchecked. */
export function templateRunner(template: unknown): Record<string, unknown> | undefined {
  const containers = asList(asRecord(asRecord(template)['spec'])['containers']).map(asRecord);
  return containers.find(({ name }) => name === RUNNER_CONTAINER);
}

/** The image that a template gives the runner's container, if it does. */
export function templateImage(template: unknown): string | undefined {
  const image = templateRunner(template)?.['image'];
  return typeof image === 'string' && image !== '' ? image : undefined;
}

/**
 * A pool that keeps no logs can have none in the status of its pods, where the cluster would put
 * them. Takes the pool as it is written.
 */
export function refuseLogsInStatus(written: unknown, context: z.RefinementCtx): void {
  const { keepLogs, template } = asRecord(written);
  if (keepLogs !== false) return;
  const spec = asRecord(asRecord(template)['spec']);
  for (const list of ['containers', 'initContainers']) {
    for (const [index, { terminationMessagePolicy }] of asList(spec[list]).map(asRecord).entries()) {
      if (terminationMessagePolicy !== 'FallbackToLogsOnError') continue;
      const path = ['template', 'spec', list, index, 'terminationMessagePolicy'];
      context.addIssue({ code: 'custom', path, message: 'puts the end of a log into the status of the pod, beside `keepLogs: false`' });
    }
  }
}

/**
 * A pod's containers share their names with its init containers; the runner's is there in any case.
 */
function namedTwice(containers: readonly { name: string }[], initContainers: readonly { name: string }[]): Set<string> {
  const names = [...containers, ...initContainers].map(({ name }) => name);
  if (!containers.some(({ name }) => name === RUNNER_CONTAINER)) names.push(RUNNER_CONTAINER);
  return new Set(names.filter((name, index) => names.indexOf(name) !== index));
}
