import type { Endpoint } from '@paddock/api/endpoint';
import express, { type Request, type Response } from 'express';
import { z } from 'zod';
import { type Mistake, problem, type Reply } from './reply.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * An endpoint's input from a request: the fields of the path, and of the query (GET) or the body
 * (else). Otherwise the reply that names each mistake and its place.
 */
export async function readInput(
  { method, input: schema }: Endpoint,
  request: Request,
  response: Response,
): Promise<{ input: Fields } | { reply: Reply }> {
  const { params: path, query } = request;
  const isGet = method === 'GET';
  const body = isGet ? { fields: query } : await readBody(request, response);
  if ('reply' in body) return body;
  const rest = isGet ? 'query' : 'body';
  const misplaced = [
    ...Object.entries(query).flatMap(([name, value]) => {
      const message = isGet ? Array.isArray(value) && 'is given twice' : 'belongs into the body';
      return message === false ? [] : { place: `query.${name}`, message };
    }),
    ...Object.keys(body.fields)
      .filter((name) => Object.hasOwn(path, name))
      .map((name) => ({ place: `${rest}.${name}`, message: 'is a part of the path' })),
  ];
  if (misplaced.length > 0) return { reply: wrongInput(misplaced) };
  const read = schema.safeParse({ ...body.fields, ...path });
  if (read.success) return { input: read.data };
  return { reply: wrongInput(read.error.issues.flatMap((issue) => mistakes(issue, path, rest))) };
}

/** The fields of the path alone, as the endpoint reads them; none if it cannot. */
export const readPath = ({ input: { shape } }: Endpoint, path: Fields): Fields =>
  z
    .object(Object.fromEntries(Object.keys(path).map((field) => [field, shape[field]])))
    .safeParse(path).data ?? {};

const wrongInput = (errors: readonly Mistake[]): Reply =>
  problem(400, 'Wrong input', 'Correct what `errors` names.', { errors });

function mistakes(issue: z.core.$ZodIssue, path: Fields, rest: string): Mistake[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      place: [rest, ...issue.path, key].join('.'),
      message: 'is unknown',
    }));
  const [field = ''] = issue.path;
  const start = Object.hasOwn(path, field) ? 'path' : rest;
  return [{ place: [start, ...issue.path].join('.'), message: issue.message }];
}

/** Inputs are names, filters and notes. */
const MOST_BYTES = 65_536;

const readJson = express.json({ limit: MOST_BYTES, inflate: false });

/** The JSON object in a request's body, `{}` without a body; else the reply to send instead. */
async function readBody(
  request: Request,
  response: Response,
): Promise<{ fields: Fields } | { reply: Reply }> {
  const { promise: read, resolve } = Promise.withResolvers<{ status?: number } | undefined>();
  readJson(request, response, resolve);
  const unread = await read;
  if (unread?.status === 413) return { reply: TOO_LARGE };
  if (unread?.status === 415) return { reply: WRONG_TYPE };
  if (unread !== undefined) return { reply: NO_OBJECT };
  const body: unknown = request.body;
  // Express leaves other types unread. Browsers send those across origins without asking first.
  if (body === undefined) return hasBody(request) ? { reply: WRONG_TYPE } : { fields: {} };
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { reply: NO_OBJECT };
  return { fields: { ...body } };
}

const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const WRONG_TYPE = problem(415, 'Wrong type', 'Send the body as application/json.');
const NO_OBJECT = problem(400, 'Wrong input', 'The body must be a JSON object, and arrive whole.');
const TOO_LARGE = problem(413, 'Too large', `A body has at most ${MOST_BYTES} bytes.`);
