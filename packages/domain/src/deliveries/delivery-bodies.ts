import { createHash } from 'node:crypto';
import { HANDLED_EVENTS } from './parse-delivery.ts';

const HANDLED: ReadonlySet<string> = new Set(HANDLED_EVENTS);

/**
 * Identifies a delivery although its headers may be forged: by its body, the App that signed it,
 * and the event. All unhandled events count as one, or a made-up name would make a new delivery.
 * Returns as many hex digits as a UUID has.
 */
export function bodyDigest(
  { appId, event }: { appId: number; event: string },
  body: Buffer | string,
): string {
  const hash = createHash('sha256').update(`${appId} ${HANDLED.has(event) ? event : 'other'}\n`);
  return hash.update(body).digest('hex').slice(0, UUID_DIGITS);
}

const UUID_DIGITS = 32;

/** Stored of a job that no pool serves: GitHub's shape, to be read as a delivery again. */
const KEPT_OF_JOB = [
  'id',
  'run_id',
  'run_attempt',
  'name',
  'workflow_name',
  'html_url',
  'labels',
  'status',
  'conclusion',
  'created_at',
  'started_at',
  'completed_at',
  'runner_id',
  'runner_name',
];

/** Reduces a well-formed workflow_job payload. `bytes`: the size of the body as sent. */
export function reduceJobPayload(body: unknown, bytes: number): string {
  const payload = fieldsOf(body);
  const repository = fieldsOf(payload['repository']);
  const job = fieldsOf(payload['workflow_job']);
  const { installation = null } = payload;
  const steps = Array.isArray(job['steps']) ? job['steps'].length : 0;
  return JSON.stringify({
    action: payload['action'],
    workflow_job: pick(job, KEPT_OF_JOB),
    repository: {
      ...pick(repository, ['id', 'full_name', 'private']),
      owner: pick(fieldsOf(repository['owner']), ['id', 'login', 'type']),
    },
    ...(installation === null ? {} : { installation: pick(fieldsOf(installation), ['id']) }),
    sender: pick(fieldsOf(payload['sender']), ['id', 'login', 'type']),
    reduced_from: { bytes, steps },
  });
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? { ...value } : {};

const pick = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(
    names
      .filter((name) => isPlain(fields[name]) || name === 'labels')
      .map((name) => [name, fields[name]]),
  );

/** Drops what no field of GitHub's is, such as numbers that JavaScript would round. */
const isPlain = (value: unknown): boolean =>
  value === null ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  Number.isSafeInteger(value);
