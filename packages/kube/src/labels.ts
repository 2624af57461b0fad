/** Labels serve selection, so their values are short. Annotations hold the rest. */
const LABEL = {
  managedBy: 'app.kubernetes.io/managed-by',
  /** The instance of Paddock that owns the object. Lists and watches select by it. */
  instance: 'paddock.dev/instance',
  pool: 'paddock.dev/pool',
  entityId: 'paddock.dev/entity-id',
  scopeRepoId: 'paddock.dev/scope-repo-id',
  cluster: 'paddock.dev/cluster',
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

const MANAGED_BY = 'paddock';

/** The worker's identity on its pod and Secret: enough to restore a missing row. */
export interface WorkerIdentity {
  readonly instance: string;
  readonly pool: string;
  /** The entity's id at GitHub. */
  readonly entityId: number;
  /** 0 if the runner registers at the organisation, else the repository's id. */
  readonly scopeRepoId: number;
  /** Absent for warm workers. */
  readonly madeForJobId?: number | undefined;
  readonly deliveryGuid?: string | undefined;
  readonly cluster?: string | undefined;
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
  readonly repoFullName?: string | undefined;
}

interface LabelsAndAnnotations {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
}

/** Writes the identity as labels and annotations. */
export function labelsAndAnnotations(worker: WorkerIdentity): LabelsAndAnnotations {
  return {
    labels: {
      [LABEL.managedBy]: MANAGED_BY,
      [LABEL.instance]: worker.instance,
      [LABEL.pool]: worker.pool,
      [LABEL.entityId]: String(worker.entityId),
      [LABEL.scopeRepoId]: String(worker.scopeRepoId),
      ...(worker.cluster === undefined ? {} : { [LABEL.cluster]: worker.cluster }),
    },
    annotations: {
      ...(worker.deliveryGuid === undefined
        ? {}
        : { [ANNOTATION.deliveryGuid]: worker.deliveryGuid }),
      ...(worker.madeForJobId === undefined
        ? {}
        : { [ANNOTATION.madeForJobId]: String(worker.madeForJobId) }),
      ...(worker.entity === undefined ? {} : entityAnnotations(worker.entity)),
    },
  };
}

const entityAnnotations = ({
  type,
  name,
  appId,
  installationId,
  repoFullName,
}: WorkerEntity): Record<string, string> => ({
  [ANNOTATION.entityType]: type,
  [ANNOTATION.entityName]: name,
  [ANNOTATION.appId]: String(appId),
  [ANNOTATION.installationId]: String(installationId),
  ...(repoFullName === undefined ? {} : { [ANNOTATION.repository]: repoFullName }),
});

/**
 * Reads the identity back. Undefined if we did not make the object: a label is missing or invalid.
 */
export function identityOf(metadata: {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}): WorkerIdentity | undefined {
  const labels = metadata.labels ?? {};
  const annotations = metadata.annotations ?? {};
  const instance = labels[LABEL.instance];
  const pool = labels[LABEL.pool];
  const entityId = idFrom(labels[LABEL.entityId]);
  const scopeRepoId = idFrom(labels[LABEL.scopeRepoId]);
  if (labels[LABEL.managedBy] !== MANAGED_BY || instance === undefined || pool === undefined)
    return undefined;
  if (entityId === undefined || scopeRepoId === undefined) return undefined;
  const madeForJobId = idFrom(annotations[ANNOTATION.madeForJobId]);
  const deliveryGuid = annotations[ANNOTATION.deliveryGuid];
  const cluster = labels[LABEL.cluster];
  const entity = entityOf(annotations);
  return {
    instance,
    pool,
    entityId,
    scopeRepoId,
    ...(madeForJobId === undefined ? {} : { madeForJobId }),
    ...(deliveryGuid === undefined ? {} : { deliveryGuid }),
    ...(cluster === undefined ? {} : { cluster }),
    ...(entity === undefined ? {} : { entity }),
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
  const repoFullName = annotations[ANNOTATION.repository];
  const repository =
    repoFullName !== undefined && REPOSITORY.test(repoFullName) ? { repoFullName } : {};
  return { type, name, appId, installationId, ...repository };
}

/** The label selector of one instance's objects. */
export function instanceSelector(instance: string): string {
  return `${LABEL.managedBy}=${MANAGED_BY},${LABEL.instance}=${instance}`;
}

function idFrom(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,16}$/.test(text)) return undefined;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : undefined;
}
