import { WORKER_PREFIX } from './worker-name.ts';

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
