import { z } from 'zod';
import { asList, asRecord } from './as-record.ts';
import { misplacedInTemplates } from './misplaced-keys.ts';

/** Runs the job. Named as in actions-runner-controller, so that its templates fit. */
export const RUNNER_CONTAINER = 'runner';
/** The Docker daemon of `containerMode: dind`, named as there. */
export const DAEMON_CONTAINER = 'dind';

/** The runner's official image: the default of a pool. GitHub serves its newest release longest. */
export const OFFICIAL_IMAGE = 'ghcr.io/actions/actions-runner:latest';

/** Mirrors and pull-through caches keep the end of the path. */
export const isOfficialImage = (image: string): boolean =>
  /(?:^|\/)actions\/actions-runner(?:[:@]|$)/.test(image);

/** An object with a name in a PodSpec. The cluster checks its other fields. */
const named = z.looseObject({ name: z.string().min(1) });
const environment = z.array(named).nullish();
const mounts = z.array(z.looseObject({ name: z.string(), mountPath: z.string() })).nullish();
const container = named.extend({ env: environment, volumeMounts: mounts });
const marks = z.record(z.string(), z.string()).nullish();

/** Programs write `creationTimestamp: null` into templates. It is dropped. */
const metadata = z
  .strictObject({ labels: marks, annotations: marks, creationTimestamp: z.null().optional() })
  .transform(({ creationTimestamp: _none, ...kept }) => kept);

/**
 * Metadata and PodSpec of a pool's pods, as in actions-runner-controller's `template`. Only the
 * parts that we add to are checked. The rest is kept, including fields that no library knows yet.
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
    .nullish(),
});

export type PodTemplate = z.infer<typeof podTemplate>;
export type PodTemplateContainer = z.infer<typeof container>;

/** The runner's container of a template, if any. The template may be unchecked. */
export function templateRunner(template: unknown): Record<string, unknown> | undefined {
  const containers = asList(asRecord(asRecord(template)['spec'])['containers']).map(asRecord);
  return containers.find(({ name }) => name === RUNNER_CONTAINER);
}

export function templateImage(template: unknown): string | undefined {
  const image = templateRunner(template)?.['image'];
  return typeof image === 'string' && image !== '' ? image : undefined;
}

/** Names the script by which the runner makes a pod for each job: kubernetes mode. */
export const HOOKS_VARIABLE = 'ACTIONS_RUNNER_CONTAINER_HOOKS';

/** Whether runners of a template make objects of their own in the cluster. It may be unchecked. */
export const hasHooks = (template: unknown): boolean =>
  asList(templateRunner(template)?.['env']).some((one) => asRecord(one)['name'] === HOOKS_VARIABLE);

/** With `keepLogs: false` the cluster must not copy logs into a pod's status. */
export function refuseLogsInStatus(written: unknown, context: z.RefinementCtx): void {
  const { keepLogs, template } = asRecord(written);
  if (keepLogs !== false) return;
  const spec = asRecord(asRecord(template)['spec']);
  for (const list of ['containers', 'initContainers']) {
    for (const [index, { terminationMessagePolicy }] of asList(spec[list])
      .map(asRecord)
      .entries()) {
      if (terminationMessagePolicy !== 'FallbackToLogsOnError') continue;
      const path = ['template', 'spec', list, index, 'terminationMessagePolicy'];
      context.addIssue({
        code: 'custom',
        path,
        message: 'puts the end of a log into the status of the pod, beside `keepLogs: false`',
      });
    }
  }
}
