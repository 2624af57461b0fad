/** How the names of all workers begin, of every instance. */
export const WORKER_PREFIX = 'pdk-';

/** The rules for names of a worker's row and its pod. The last digits are its own. */
const NAME = /^[a-z\d-]{1,47}-[\da-f]{12}$/;

/** Of one instance's workers. Instances may share an organisation, a namespace, a cluster. */
export const instancePrefix = (instance: string): string => `${WORKER_PREFIX}${instance}-`;

/**
 * The name of a worker, its registration, its Secret and its pod. A host's name ends at its first
 * dot, so dots of the pool's name become hyphens; labels tell pools apart. Names in the database
 * are made by `newWorkerName`, alike.
 */
export const workerName = (instance: string, pool: string, unique: string): string =>
  `${instancePrefix(instance)}${pool.replaceAll('.', '-')}-${unique}`;

/** Whether a worker of this instance can have this name. */
export const isWorkerName = (name: string, instance: string): boolean =>
  NAME.test(name) && name.startsWith(instancePrefix(instance));

/**
 * Normalises a runner's name to compare it with workers' names. GitHub ignores case, and may return
 * another case or spaces around the name. Other runners' names are only trimmed.
 */
export function readRunnerName(name: string): string {
  const trimmed = name.trim();
  return trimmed.slice(0, WORKER_PREFIX.length).toLowerCase() === WORKER_PREFIX
    ? trimmed.toLowerCase()
    : trimmed;
}

/** A runner in GitHub's answer. Its id may be missing. */
interface ReportedRunner {
  readonly name: string | null;
  readonly id: number | null;
}

/** Other runners may have the same name, so known ids decide. */
export const isRunnerOf = (
  worker: { readonly podName: string; readonly runnerId: number | null },
  { name, id }: ReportedRunner,
): boolean =>
  name === worker.podName && (worker.runnerId === null || id === null || id === worker.runnerId);
