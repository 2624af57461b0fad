export type JobReference =
  | { readonly job: number }
  | { readonly run: number; readonly owner: string };

const ID = '([1-9]\\d{0,15})';
const END = '(?:/logs)?/?(?:[?&].*)?$';

/**
 * The owner, and what follows the repository, of an address of GitHub's pages or of its API. The host
 * may be missing: no owner has a dot in its name.
 */
const ADDRESS =
  /^(?:https?:\/\/[^/]+\/|[\w-]+(?:\.[\w-]+)+(?::\d+)?\/|\/)?(?:(?:api\/v3\/)?repos\/)?([\w-]+)\/[^/]+\/([^#]+)/i;

/** A job's own address, and those of its check run, which has the same id. */
const OF_JOB = new RegExp(
  `^(?:(?:actions/)?(?:runs/\\d+/(?:attempts/\\d+/)?)?jobs?/|(?:check-)?runs/|.*/checks(?:/|\\?(?:.*&)?check_run_id=))${ID}${END}`,
);

const OF_RUN = new RegExp(
  `^actions/runs/${ID}(?:/attempts/\\d+)?(?:/(?:jobs|usage|workflow))?${END}`,
);

/** Reads a job's id, or the address of a job or a run at GitHub. Undefined: it is neither. */
export function readJobReference(text: string): JobReference | undefined {
  if (new RegExp(`^${ID}$`).test(text)) return { job: Number(text) };
  const [, owner = '', path = ''] = ADDRESS.exec(text) ?? [];
  const [, job] = OF_JOB.exec(path) ?? [];
  if (job !== undefined) return { job: Number(job) };
  const [, run] = OF_RUN.exec(path) ?? [];
  return run === undefined ? undefined : { run: Number(run), owner };
}
