/** Labels are for selecting: their values are short and plain. Whatever else is known goes into annotations. */
const LABEL = {
  managedBy: 'app.kubernetes.io/managed-by',
  /** The installation of Paddock that owns the object; lists and watches select by it (A8). */
  instance: 'paddock.dev/instance',
  pool: 'paddock.dev/pool',
  entityId: 'paddock.dev/entity-id',
  scopeRepoId: 'paddock.dev/scope-repo-id',
  cluster: 'paddock.dev/cluster',
} as const;

const ANNOTATION = {
  /** GitHub's id of the delivery that made the worker wanted. */
  deliveryGuid: 'paddock.dev/delivery-guid',
  /** GitHub's id of the job the worker was made for; GitHub may give it another one. */
  madeForJobId: 'paddock.dev/made-for-job-id',
  entityType: 'paddock.dev/account-type',
  entityName: 'paddock.dev/account-name',
  appId: 'paddock.dev/app-id',
  installationId: 'paddock.dev/installation-id',
  repository: 'paddock.dev/repository',
} as const;

const MANAGED_BY = 'paddock';

/** What a pod or Secret of ours says about its worker: enough to write its row anew when the row is missing (E6). */
export interface WorkerIdentity {
  readonly instance: string;
  readonly pool: string;
  /** The entity's id at GitHub. */
  readonly entityId: number;
  /** 0 when the runner registers with the organisation, else the repository's id. */
  readonly scopeRepoId: number;
  /** Absent for warm workers. */
  readonly madeForJobId?: number | undefined;
  readonly deliveryGuid?: string | undefined;
  readonly cluster?: string | undefined;
  /** Whom it works for, as known when it was made; what the database knows of the entity is newer. */
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

interface ObjectMarks {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
}

/** Writes the identity as labels and annotations. */
export function marksOf(worker: WorkerIdentity): ObjectMarks {
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
      ...(worker.deliveryGuid === undefined ? {} : { [ANNOTATION.deliveryGuid]: worker.deliveryGuid }),
      ...(worker.madeForJobId === undefined ? {} : { [ANNOTATION.madeForJobId]: String(worker.madeForJobId) }),
      ...(worker.entity === undefined ? {} : entityMarks(worker.entity)),
    },
  };
}

const entityMarks = ({ type, name, appId, installationId, repoFullName }: WorkerEntity): Record<string, string> => ({
  [ANNOTATION.entityType]: type,
  [ANNOTATION.entityName]: name,
  [ANNOTATION.appId]: String(appId),
  [ANNOTATION.installationId]: String(installationId),
  ...(repoFullName === undefined ? {} : { [ANNOTATION.repository]: repoFullName }),
});

/** Reads the identity back; undefined if a needed mark is missing or no number, for then the object is not one that we made. */
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
  if (labels[LABEL.managedBy] !== MANAGED_BY || instance === undefined || pool === undefined) return undefined;
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

/** Undefined if anything of it is missing or has not the form that GitHub gives it. */
function entityOf(annotations: Readonly<Record<string, string>>): WorkerEntity | undefined {
  const type = annotations[ANNOTATION.entityType];
  const name = annotations[ANNOTATION.entityName];
  const appId = idFrom(annotations[ANNOTATION.appId]);
  const installationId = idFrom(annotations[ANNOTATION.installationId]);
  if ((type !== 'Organization' && type !== 'User') || name === undefined || !LOGIN.test(name)) return undefined;
  if (appId === undefined || installationId === undefined) return undefined;
  const repoFullName = annotations[ANNOTATION.repository];
  const repository = repoFullName !== undefined && REPOSITORY.test(repoFullName) ? { repoFullName } : {};
  return { type, name, appId, installationId, ...repository };
}

/** Selects the objects of one instance. */
export function instanceSelector(instance: string): string {
  return `${LABEL.managedBy}=${MANAGED_BY},${LABEL.instance}=${instance}`;
}

function idFrom(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,16}$/.test(text)) return undefined;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : undefined;
}
