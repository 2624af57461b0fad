/** How the names of all workers begin, of every instance. */
export const WORKER_PREFIX = 'pdk-';

/** The rules for names of a worker's row and its pod. */
const NAME = /^[a-z0-9][a-z0-9-]{0,58}[a-z0-9]$/;

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
