import type { Endpoint } from '@paddock/api/endpoint';
import { Problem } from '@paddock/api/problem';
import {
  type Bearer,
  isNarrowedTo,
  mayCall,
  maySee,
  mayTouch,
} from '@paddock/api/tokens/check-token';
import { isBadData, isUnavailable, saysAway, sqlStateOf } from '@paddock/db/connection/errors';
import type { Database } from '@paddock/db/schema/tables';
import type { Request, Response } from 'express';
import type { Kysely } from 'kysely';
import type { Admission, Admit } from '../admit.ts';
import { readInput, readPath } from './read-input.ts';
import { problem, type Reply } from './reply.ts';

/** A reply, and what the log and the metrics say about it. */
export interface Answered {
  readonly reply: Reply;
  readonly endpoint?: Endpoint;
  readonly person?: string;
  /** A fault of ours, or PostgreSQL's. */
  readonly error?: unknown;
}

export interface AnswerOptions {
  readonly admit: Admit;
  readonly db: Kysely<Database>;
}

/**
 * Answers one request of an endpoint. Without a good token each request of the API has the same
 * answer, whatever it asks: also a revoked token has it, and a narrowed one for anything but its
 * endpoint and its subject. Never rejects.
 */
export const answer = (
  options: AnswerOptions,
  endpoint: Endpoint,
  request: Request,
  response: Response,
): Promise<Answered> =>
  withBearer(options, request, ({ bearer }) =>
    answerBearer(options, endpoint, request, response, bearer),
  );

/** Answers where there is no endpoint. Never rejects. */
export const answerNothing = (
  options: AnswerOptions,
  request: Request,
  reply: Reply,
): Promise<Answered> =>
  withBearer(options, request, ({ bearer }) =>
    Promise.resolve({ reply: bearer.narrowedTo === null ? reply : STRANGER }),
  );

/** The answer to a bearer, or the one that all others get. Never rejects. */
export async function withBearer(
  { admit }: Pick<AnswerOptions, 'admit'>,
  request: Request,
  answerTo: (admitted: Exclude<Admission, string>) => Promise<Answered>,
  options?: Parameters<Admit>[1],
): Promise<Answered> {
  try {
    const admission = await admit(request, options);
    if (admission === 'stranger') return { reply: STRANGER };
    if (admission === 'busy') return { reply: BUSY };
    try {
      return { person: admission.bearer.person, ...(await answerTo(admission)) };
    } finally {
      admission.release();
    }
  } catch (error) {
    return { reply: failed(error), error };
  }
}

async function answerBearer(
  { db }: AnswerOptions,
  endpoint: Endpoint,
  request: Request,
  response: Response,
  bearer: Bearer,
): Promise<Answered> {
  if (!mayCall(bearer, endpoint)) return { reply: STRANGER };
  if (endpoint.access === 'operate' && bearer.access === 'read')
    return { endpoint, reply: MAY_ONLY_READ };
  const read = await readInput(endpoint, request, response);
  // Its bearer hears of mistakes where it may call at all, and nothing of what is elsewhere.
  if ('reply' in read)
    return isNarrowedTo(bearer, endpoint, readPath(endpoint, request.params))
      ? { endpoint, reply: read.reply }
      : { reply: STRANGER };
  if (!mayTouch(bearer, endpoint, read.input)) return { reply: STRANGER };
  try {
    const body: unknown = await endpoint.answer(
      { db, person: bearer.person, from: 'api' },
      read.input,
    );
    if (!maySee(bearer, endpoint, body)) return { reply: STRANGER };
    const headers = { ...linkTo(body, request), ...locationOf(endpoint, body) };
    const text = `${JSON.stringify(body)}\n`;
    return { endpoint, reply: { status: endpoint.status, headers, text } };
  } catch (error) {
    if (error instanceof Problem && !maySee(bearer, endpoint, undefined))
      return { reply: STRANGER };
    if (error instanceof Problem)
      return { endpoint, reply: problem(error.status, error.title, error.detail) };
    return { endpoint, reply: failed(error), error };
  }
}

export const STRANGER = problem(
  401,
  'Not authorized',
  'Send `Authorization: Bearer TOKEN` with a token that may do this.',
  { headers: { 'www-authenticate': 'Bearer' } },
);
export const BUSY = problem(
  503,
  'Busy',
  'Too many requests are being answered: repeat this one later.',
  {
    headers: { 'retry-after': '1' },
  },
);
const NO_SENSE =
  'A value of it makes no sense to the database, such as a day that no calendar has, or a name with a NUL.';
const MAY_ONLY_READ = problem(403, 'Forbidden', 'This token may only read.');

export const nothingThere = (methods: readonly string[]): Reply =>
  methods.length === 0
    ? problem(404, 'Not found', 'There is nothing at this path.')
    : problem(405, 'Wrong method', `This path takes ${methods.join(', ')}.`, {
        headers: { allow: methods.join(', ') },
      });

function failed(error: unknown): Reply {
  // Such as an instant in a cursor that is none, or a NUL in a name.
  if (isBadData(error)) return problem(400, 'Wrong input', NO_SENSE);
  const isAway = sqlStateOf(error) === undefined ? saysAway(error) : isUnavailable(error);
  return isAway
    ? problem(503, 'Unavailable', 'The database does not answer in time: repeat this later.', {
        headers: { 'retry-after': '5' },
      })
    : problem(500, 'Failed', 'This is a fault of Paddock; its log says more.');
}

/** The next page of a list, as GitHub's. Relative, so that a proxy may add a prefix. */
function linkTo(body: unknown, { url }: Request): { link?: string } {
  if (typeof body !== 'object' || body === null || !('next' in body)) return {};
  if (typeof body.next !== 'string') return {};
  const next = new URL(url, 'http://console').searchParams;
  next.set('after', body.next);
  return { link: `<?${next.toString()}>; rel="next"` };
}

/** Where the operation of an enqueued task is, from the endpoint's path. */
function locationOf({ path, status }: Endpoint, body: unknown): { location?: string } {
  if (status !== 202 || typeof body !== 'object' || body === null || !('id' in body)) return {};
  // Below `/api/v1/`, which has two names before it.
  const up = '../'.repeat(path.split('/').length - 4);
  return { location: `${up}operations/${encodeURIComponent(String(body.id))}` };
}
