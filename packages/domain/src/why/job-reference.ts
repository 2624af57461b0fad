/** A job, or all jobs of a run. */
export type JobReference =
  | { readonly job: number }
  | { readonly run: number; readonly owner: string };

const ID = /^[1-9]\d{0,15}$/;
const PATH =
  /^\/([^/]+)\/[^/]+\/actions\/runs\/([1-9]\d{0,15})(?:\/attempts\/\d+)?(?:\/job\/([1-9]\d{0,15}))?\/?$/;

/**
 * What a person means by a job's id, or by the address of a job or a run at GitHub. Undefined: it
 * is neither.
 */
export function readJobReference(text: string): JobReference | undefined {
  if (ID.test(text)) return { job: Number(text) };
  if (!URL.canParse(text)) return undefined;
  const found = PATH.exec(new URL(text).pathname);
  if (found === null) return undefined;
  const [, owner, run, job] = found;
  return job === undefined ? { run: Number(run), owner: String(owner) } : { job: Number(job) };
}
