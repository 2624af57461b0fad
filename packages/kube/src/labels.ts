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
} as const;

const MANAGED_BY = 'paddock';

/** What a pod or Secret of ours says about its worker: enough to write its row anew when the row is missing (E6). */
export interface WorkerIdentity {
  readonly instance: string;
  readonly pool: string;
  /** The account's id at GitHub. */
  readonly entityId: number;
  /** 0 when the runner registers with the organisation, else the repository's id. */
  readonly scopeRepoId: number;
  /** Absent for warm workers. */
  readonly madeForJobId?: number | undefined;
  readonly deliveryGuid?: string | undefined;
  readonly cluster?: string | undefined;
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
    },
  };
}

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
  return {
    instance,
    pool,
    entityId,
    scopeRepoId,
    ...(madeForJobId === undefined ? {} : { madeForJobId }),
    ...(deliveryGuid === undefined ? {} : { deliveryGuid }),
    ...(cluster === undefined ? {} : { cluster }),
  };
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
