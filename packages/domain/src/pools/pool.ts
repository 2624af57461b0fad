import { z } from 'zod';
import { misplacedInPools } from './misplaced-keys.ts';
import { entitiesGate, repositoriesGate } from './gate.ts';
import { MOST_LABEL_BYTES, normaliseLabels, storableLabels } from '../text/storable.ts';
import { caBundle, containerMode, podKeys, proxy } from './pod-keys.ts';
import { OFFICIAL_IMAGE, podTemplate, refuseLogsInStatus, templateImage } from './pod-template.ts';
import { warm } from './warm.ts';

const NAME = /^[a-z]([a-z0-9.-]{0,28}[a-z0-9])?$/;

export const count = z.int().min(0).max(100_000);

const seconds = z.int().min(10).max(86_400);

/** The deadlines of a pool's workers; if absent, `DEFAULT_DEADLINES`. */
const deadlines = {
  pendingDeadlineSeconds: seconds.optional().describe('How long a pod may take to start.'),
  registrationDeadlineSeconds: seconds
    .optional()
    .describe(
      'How long a runner may take from the start of its container until GitHub calls it online.',
    ),
  idleDeadlineSeconds: seconds
    .optional()
    .describe('How long a runner may be without a job before it is stopped; warm ones are not.'),
};

export const DEFAULT_DEADLINES = {
  pendingDeadlineSeconds: 900,
  registrationDeadlineSeconds: 300,
  idleDeadlineSeconds: 600,
} as const;

const writtenPool = z.strictObject({
  ...misplacedInPools,
  name: z
    .string()
    .regex(NAME, 'must be 1 to 30 characters of a-z, 0-9, - and ., beginning with a letter')
    .describe('Part of the names of its runners and pods, there with - for each dot.'),
  labels: z
    .array(z.string().min(1).max(256))
    .min(1, 'needs at least one label')
    .max(100, 'may have at most 100 labels')
    .transform(normaliseLabels)
    .refine(
      (labels) => storableLabels(labels).length === labels.length,
      `may have ${MOST_LABEL_BYTES} bytes of labels, counting 4 more for each`,
    )
    .describe(
      'A job fits if all that it asks for in `runs-on` is among these, without regard to case.',
    ),
  image: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The runner's image; without one that of the template's container `runner`, else the official one.",
    ),
  namespace: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'must be a Kubernetes namespace')
    .describe('Where its pods are made.'),
  priority: z
    .int()
    .default(0)
    .describe('Decides between pools of equally many labels that a job fits; the higher wins.'),
  registration: z
    .enum(['organization', 'repository'])
    .default('organization')
    .describe('Where runners register for organisations; for users it is always the repository.'),
  runnerGroup: z
    .string()
    .min(1)
    .default('Default')
    .describe('The runner group of organisations; it is made if it is not there.'),
  publicRepositories: z
    .boolean()
    .default(false)
    .describe('Whether jobs of public repositories are served.'),
  maxWorkers: count
    .nullable()
    .default(null)
    .describe('Most workers at one time; null: no limit, 0: switched off.'),
  maxWorkersPerRepository: count
    .nullable()
    .default(null)
    .describe('The same for one repository; only with `registration: repository`.'),
  maxUnschedulable: count
    .min(1)
    .optional()
    .describe(
      'Most workers of one entity or repository that no node takes; more follow when these find nodes. 10 without it.',
    ),
  paused: z.boolean().default(false).describe('Makes no more workers; those that are there go on.'),
  // A key that a later version adds needs to be optional: services of the version before refuse
  // stored documents with keys that they do not know.
  runnerGroupVisibility: z
    .enum(['all', 'private', 'selected'])
    .optional()
    .describe(
      'Which repositories of the organisation may use a runner group that Paddock makes; all without it.',
    ),
  containerMode: containerMode
    .default('none')
    .describe(
      'none, or dind: a Docker daemon beside the runner, as actions-runner-controller makes it.',
    ),
  proxy: proxy
    .optional()
    .describe('The proxy that runner and Docker daemon use to reach the outside.'),
  caBundle: caBundle
    .optional()
    .describe('A ConfigMap with certificates that runner and Docker daemon trust.'),
  warm: warm.optional().describe('Workers that are kept idle, so that jobs begin at once.'),
  keepLogs: z
    .boolean()
    .default(true)
    .describe(
      'Whether the rows of its failed workers keep the ends of their logs, without texts that look like a credential.',
    ),
  entities: entitiesGate
    .optional()
    .describe(
      'The entities that it serves, among those that the file’s `entities` admit: logins, in which * means any characters, or id:123.',
    ),
  repositories: repositoriesGate
    .optional()
    .describe(
      'Which repositories it serves, as owner/name with * for any characters; with `registration: repository`, or a runner group.',
    ),
  unlabelled: z
    .boolean()
    .optional()
    .describe(
      'Whether it also serves jobs that ask for no label, as `runs-on: { group: … }` alone does; with `entities` or `repositories`.',
    ),
  allowUntrusted: z
    .boolean()
    .default(false)
    .describe(
      'Says a second time that a pool whose jobs get power over their node serves strangers, public repositories or the default runner group.',
    ),
  ...deadlines,
  ...podKeys,
  template: podTemplate
    .optional()
    .describe("Metadata and PodSpec of its pods, as in actions-runner-controller's `template`."),
});

export const keysOfPools: readonly string[] = Object.keys(writtenPool.shape).filter(
  (key) => !(key in misplacedInPools),
);

export const pool = writtenPool
  .superRefine(refuseLogsInStatus, { when: () => true })
  .transform(({ image, ...rest }) => ({
    ...rest,
    image: image ?? templateImage(rest.template) ?? OFFICIAL_IMAGE,
  }));

export type Pool = z.infer<typeof pool>;
