/** Labels serve selection, so their values are short. Annotations hold the rest. */
const LABEL = {
  managedBy: 'app.kubernetes.io/managed-by',
  /** The instance of Paddock that owns the object. Lists and watches select by it alone. */
  instance: 'paddock.dev/instance',
  pool: 'paddock.dev/pool',
  entityId: 'paddock.dev/entity-id',
  scopeRepoId: 'paddock.dev/scope-repo-id',
} as const;

const ANNOTATION = {
  /** GitHub's id of the delivery for which the worker was made. */
  deliveryGuid: 'paddock.dev/delivery-guid',
  /** GitHub's id of the job for which the worker was made. GitHub may give it another job. */
  madeForJobId: 'paddock.dev/made-for-job-id',
  entityType: 'paddock.dev/account-type',
  entityName: 'paddock.dev/account-name',
  appId: 'paddock.dev/app-id',
  installationId: 'paddock.dev/installation-id',
  repository: 'paddock.dev/repository',
} as const;

/**
 * What is written on a pod once its job is known. Of another prefix: these marks are no part of the
 * worker's identity, and nothing reads them back.
 */
export interface JobOnPod {
  readonly jobId: number;
  readonly repository: string;
  readonly workflow: string | null;
  /** The job's page at GitHub. */
  readonly url: string | null;
}

export const jobAnnotations = ({ jobId, repository, workflow, url }: JobOnPod) =>
  textsOf({
    'job.paddock.dev/id': jobId,
    'job.paddock.dev/repository': repository,
    'job.paddock.dev/workflow': workflow,
    'job.paddock.dev/run-url': url?.replace(/\/job\/\d+$/, ''),
  });

/** The worker's identity on its pod and Secret: enough to restore a missing row. */
export interface WorkerIdentity {
  readonly instance: string;
  readonly pool: string;
  /** The entity's id at GitHub. */
  readonly entityId: number;
  /** 0 if the runner registers at the organisation, else the repository's id. */
  readonly scopeRepoId: number;
  /** Absent for warm workers. */
  readonly madeForJobId?: number | null | undefined;
  readonly deliveryGuid?: string | null | undefined;
  /** The entity when the worker was made. The database may know newer facts. */
  readonly entity?: WorkerEntity | undefined;
}

export interface WorkerEntity {
  readonly type: 'Organization' | 'User';
  /** Its login. */
  readonly name: string;
  readonly appId: number;
  readonly installationId: number;
  /** `owner/name`; for users only. */
  readonly repoFullName?: string | null | undefined;
}

/** Writes the identity as labels and annotations. */
export const labelsAndAnnotations = ({ entity, ...worker }: WorkerIdentity) => ({
  labels: {
    [LABEL.managedBy]: 'paddock',
    [LABEL.instance]: worker.instance,
    [LABEL.pool]: worker.pool,
    [LABEL.entityId]: String(worker.entityId),
    [LABEL.scopeRepoId]: String(worker.scopeRepoId),
  },
  annotations: textsOf({
    [ANNOTATION.deliveryGuid]: worker.deliveryGuid,
    [ANNOTATION.madeForJobId]: worker.madeForJobId,
    [ANNOTATION.entityType]: entity?.type,
    [ANNOTATION.entityName]: entity?.name,
    [ANNOTATION.appId]: entity?.appId,
    [ANNOTATION.installationId]: entity?.installationId,
    [ANNOTATION.repository]: entity?.repoFullName,
  }),
});

/** The values as text, without those that are absent. */
const textsOf = (values: Readonly<Record<string, string | number | null | undefined>>) =>
  Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) =>
      value === null || value === undefined ? [] : [[key, String(value)] as const],
    ),
  );

interface Marked {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/**
 * Reads the identity back. Undefined if we did not make the object: a label is missing or invalid.
 */
export function identityOf(metadata: Marked): WorkerIdentity | undefined {
  const { labels = {}, annotations = {} } = metadata;
  const instance = labels[LABEL.instance];
  const pool = labels[LABEL.pool];
  const entityId = idFrom(labels[LABEL.entityId]);
  const scopeRepoId = idFrom(labels[LABEL.scopeRepoId]);
  if (instance === undefined || pool === undefined) return undefined;
  if (entityId === undefined || scopeRepoId === undefined) return undefined;
  return {
    instance,
    pool,
    entityId,
    scopeRepoId,
    madeForJobId: idFrom(annotations[ANNOTATION.madeForJobId]),
    deliveryGuid: annotations[ANNOTATION.deliveryGuid],
    entity: entityOf(annotations),
  };
}

const LOGIN = /^[\w.-]{1,100}$/;
const REPOSITORY = /^[\w.-]{1,100}\/[\w.-]{1,100}$/;

/** Undefined if a part is missing or does not have GitHub's form. */
function entityOf(annotations: Readonly<Record<string, string>>): WorkerEntity | undefined {
  const type = annotations[ANNOTATION.entityType];
  const name = annotations[ANNOTATION.entityName];
  const appId = idFrom(annotations[ANNOTATION.appId]);
  const installationId = idFrom(annotations[ANNOTATION.installationId]);
  if ((type !== 'Organization' && type !== 'User') || name === undefined || !LOGIN.test(name))
    return undefined;
  if (appId === undefined || installationId === undefined) return undefined;
  const repoFullName = REPOSITORY.exec(annotations[ANNOTATION.repository] ?? '')?.[0];
  return { type, name, appId, installationId, repoFullName };
}

/** The labels and annotations that are Paddock's, by key. */
export const marksOf = ({ labels, annotations }: Marked): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ ...labels, ...annotations }).filter(
      ([key]) => key.startsWith('paddock.dev/') || key === LABEL.managedBy,
    ),
  );

/** The label selector of one instance's objects: a label that other programs do not set. */
export const instanceSelector = (instance: string): string => `${LABEL.instance}=${instance}`;

/** The label selector of objects that no instance of Paddock has made. */
export const NOT_OURS = `!${LABEL.instance}`;

function idFrom(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,16}$/.test(text)) return undefined;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : undefined;
}
