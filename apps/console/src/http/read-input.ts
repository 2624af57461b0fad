import type { Endpoint } from '@paddock/api/endpoint';
import { mistakeInWords } from '@paddock/api/problem';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { readBody } from './read-body.ts';
import { type Mistake, problem, type Reply } from './reply.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * An endpoint's input from a request: the fields of the path, and of the query (GET) or the body.
 * Else the reply that names each mistake and its place.
 */
export async function readInput(
  { method, input: schema }: Endpoint,
  request: Request,
  response: Response,
): Promise<{ input: Fields } | { reply: Reply }> {
  const { params: path, query } = request;
  const rest = method === 'GET' ? 'query' : 'body';
  const body = method === 'GET' ? { fields: query } : await readBody(request, response);
  if ('reply' in body) return body;
  const misplaced = [
    ...Object.keys(query)
      .filter((name) => Array.isArray(query[name]))
      .map((name) => ({ place: `query.${name}`, message: 'is given twice' })),
    ...(method === 'GET' ? [] : Object.keys(query)).map((name) => ({
      place: `query.${name}`,
      message: 'belongs into the body',
    })),
    ...Object.keys(body.fields)
      .filter((name) => Object.hasOwn(path, name))
      .map((name) => ({ place: `${rest}.${name}`, message: 'is a part of the path' })),
  ];
  if (misplaced.length > 0) return { reply: wrongInput(misplaced) };
  const read = schema.safeParse({ ...body.fields, ...path }, { reportInput: true });
  if (read.success) return { input: read.data };
  return {
    reply: wrongInput(read.error.issues.flatMap((issue) => mistakes(issue, path, rest))),
  };
}

/** The fields of the path alone, as the endpoint reads them. Undefined: it cannot. */
export const readPath = ({ input: { shape } }: Endpoint, path: Fields): Fields | undefined =>
  z
    .object(Object.fromEntries(Object.keys(path).map((field) => [field, shape[field]])))
    .safeParse(path).data;

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
  return [{ place: [start, ...issue.path].join('.'), message: mistakeInWords(issue) }];
}
