import type { OutgoingHttpHeaders } from 'node:http';
import type { Endpoint } from '@paddock/api/endpoint';
import { Problem } from '@paddock/api/problem';
import { mayAct, mayCall, maySee, mayTouch } from '@paddock/api/tokens/may-call';
import { isBadData, isUnavailable, saysAway, sqlStateOf } from '@paddock/db/connection/errors';
import type { Db } from '@paddock/db/schema/tables';
import type { Request, Response } from 'express';
import type { Admit, Admitted } from '../admit.ts';
import { readInput, readPath } from './read-input.ts';
import { problem, type Reply } from './reply.ts';

/** A reply, and what the log and the metrics say about it. */
export interface Answered {
  readonly reply: Reply;
  readonly endpoint?: Endpoint;
  readonly person?: string;
  readonly error?: unknown;
}

export interface AnswerOptions {
  readonly admit: Admit;
  readonly db: Db;
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
  withBearer(options, request, async ({ bearer }) => {
    const path = readPath(endpoint, request.params);
    if (!mayCall(bearer, endpoint) || !mayTouch(bearer, endpoint, path)) return { reply: STRANGER };
    if (!mayAct(bearer, endpoint))
      return { endpoint, reply: problem(403, 'Forbidden', 'This token may only read.') };
    const refuse = (reply: Reply): Answered =>
      maySee(bearer, endpoint, undefined) ? { endpoint, reply } : { reply: STRANGER };
    const read = await readInput(endpoint, request, response);
    if ('reply' in read) return refuse(read.reply);
    try {
      const caller = { db: options.db, person: bearer.person, from: 'api' } as const;
      const body: unknown = await endpoint.answer(caller, read.input);
      if (!maySee(bearer, endpoint, body)) return { reply: STRANGER };
      return { endpoint, reply: replyWith(endpoint, body, request) };
    } catch (error) {
      if (!(error instanceof Problem)) return { endpoint, reply: failed(error), error };
      return refuse(problem(error.status, error.title, error.detail));
    }
  });

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
  answerTo: (admitted: Admitted) => Promise<Answered>,
  forSignIn = false,
): Promise<Answered> {
  try {
    const admitted = await admit(request, forSignIn);
    if (admitted === 'stranger') return { reply: STRANGER };
    if (admitted === 'busy') return { reply: BUSY };
    try {
      return { person: admitted.bearer.person, ...(await answerTo(admitted)) };
    } finally {
      admitted.release();
    }
  } catch (error) {
    return { reply: failed(error), error };
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
  { headers: { 'retry-after': '1' } },
);
const NO_SENSE =
  'A value of it makes no sense to the database, such as a day that no calendar has, or a name with a NUL.';

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

function replyWith({ path, status }: Endpoint, body: unknown, request: Request): Reply {
  const { next, id } = Object(body) as { next?: unknown; id?: unknown };
  const headers: OutgoingHttpHeaders = {};
  if (typeof next === 'string') {
    // As GitHub's. Relative, so that a proxy may add a prefix.
    const { searchParams } = new URL(request.url, 'http://console');
    searchParams.set('after', next);
    headers.link = `<?${searchParams.toString()}>; rel="next"`;
  }
  if (status === 202) {
    // Where the operation is. Below `/api/v1/`, which has two names before it.
    const up = '../'.repeat(path.split('/').length - 4);
    headers.location = `${up}operations/${encodeURIComponent(String(id))}`;
  }
  const { items } = Object(body) as { items?: unknown };
  if (/^[^?]*\.csv(\?|$)/.test(request.originalUrl) && Array.isArray(items)) {
    headers['content-type'] = 'text/csv; charset=utf-8';
    return { status, headers, text: toCsv(items) };
  }
  return { status, headers, text: `${JSON.stringify(body)}\n` };
}

/**
 * The rows of a list for a sheet: a column for each value, as `entity.login`. Numbers are whole, and
 * shares are percents. A text that a sheet would take for a formula begins with an apostrophe: names
 * come from strangers.
 */
export function toCsv(rows: readonly unknown[]): string {
  const flat = rows.map((row) => new Map(flatten(row)));
  const columns = [...new Set(flat.flatMap((row) => [...row.keys()]))];
  const lines = flat.map((row) => columns.map((column) => cellOf(column, row.get(column))));
  return [columns, ...lines].map((cells) => `${cells.map(quoted).join(',')}\r\n`).join('');
}

function flatten(value: unknown, name = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, value]];
  return Object.entries(value).flatMap(([key, of]) =>
    flatten(of, name === '' ? key : `${name}.${key}`),
  );
}

function cellOf(column: string, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number')
    return String(Math.round(column.endsWith('Share') ? value * 100 : value));
  const text = Array.isArray(value) ? value.join(' ') : `${value as string | boolean}`;
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

const quoted = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
