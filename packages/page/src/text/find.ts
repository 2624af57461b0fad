const JOB_AT_GITHUB = /\/job\/(\d{1,16})\b/;
const RUN_AT_GITHUB = /^https?:\/\/[^/]+\/([^/]+)\/[^/]+\/actions\/runs\/(\d{1,16})\b/;
const OPERATION = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Where on the page something is that a person has at hand: a job’s id or its address at GitHub, a
 * run’s address, a repository, a worker’s name, an operation’s id. Undefined: the text is empty.
 */
export function findPlace(given: string): string | undefined {
  const text = given.trim();
  if (text === '') return undefined;
  const [, job] = JOB_AT_GITHUB.exec(text) ?? [];
  if (job !== undefined) return `/jobs/${job}`;
  const [, owner = '', run] = RUN_AT_GITHUB.exec(text) ?? [];
  if (run !== undefined) return `/runs/${run}?owner=${encodeURIComponent(owner)}`;
  if (/^\d{1,16}$/.test(text)) return `/jobs/${text}`;
  if (OPERATION.test(text)) return `/operations/${text}`;
  if (/^[\w.-]+\/[\w.-]+$/.test(text)) return `/jobs?repository=${encodeURIComponent(text)}`;
  return `/workers/${encodeURIComponent(text)}`;
}
