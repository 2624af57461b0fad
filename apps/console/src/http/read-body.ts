import express, { type Request, type Response } from 'express';
import { problem, type Reply } from './reply.ts';

/** Inputs are names, filters and notes. */
const MOST_BYTES = 65_536;

type Fields = Readonly<Record<string, unknown>>;

/** Of express: why it cannot read a body. */
interface Unread {
  readonly status?: number;
  readonly type?: string;
}

const readJson = express.json({ limit: MOST_BYTES, inflate: false });

/** The JSON object in a request's body, `{}` without a body; else the reply to send instead. */
export async function readBody(
  request: Request,
  response: Response,
): Promise<{ fields: Fields } | { reply: Reply }> {
  const { promise: read, resolve } = Promise.withResolvers<Unread | undefined>();
  readJson(request, response, resolve);
  const unread = await read;
  if (unread !== undefined) return { reply: replyTo(unread) };
  const body: unknown = request.body;
  // Express leaves other types unread. Browsers send those across origins without asking first.
  if (body === undefined) return hasBody(request) ? { reply: WRONG_TYPE } : { fields: {} };
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { reply: NO_OBJECT };
  return { fields: { ...body } };
}

const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const WRONG_TYPE = problem(415, 'Wrong type', 'Send the body as application/json.');
const NO_OBJECT = problem(400, 'Wrong input', 'The body must be a JSON object.');
const NOT_WHOLE = problem(400, 'Wrong input', 'The body did not arrive whole.');
const TOO_LARGE = problem(413, 'Too large', `A body has at most ${MOST_BYTES} bytes.`);

function replyTo({ status, type }: Unread): Reply {
  if (status === 413) return TOO_LARGE;
  if (status === 415) return WRONG_TYPE;
  return type === 'entity.parse.failed' ? NO_OBJECT : NOT_WHOLE;
}
