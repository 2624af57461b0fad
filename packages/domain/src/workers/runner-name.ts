import { WORKER_PREFIX } from './worker-name.ts';

/**
 * A runner's name as it is compared with workers' names, which are in lower case and without spaces: GitHub takes names without regard to
 * case, and what lies between us may give them back in another or with spaces around. Names of others stay as they are but for such spaces.
 */
export function readRunnerName(name: string): string {
  const trimmed = name.trim();
  return trimmed.slice(0, WORKER_PREFIX.length).toLowerCase() === WORKER_PREFIX ? trimmed.toLowerCase() : trimmed;
}

/** A runner by GitHub's word; its id may be missing. */
interface ToldRunner {
  readonly name: string | null;
  readonly id: number | null;
}

/** Whether a runner is a worker's own: anybody may give theirs the same name, so their ids decide where both are known. */
export const isRunnerOf = (worker: { readonly podName: string; readonly runnerId: number | null }, { name, id }: ToldRunner): boolean =>
  name === worker.podName && (worker.runnerId === null || id === null || id === worker.runnerId);
