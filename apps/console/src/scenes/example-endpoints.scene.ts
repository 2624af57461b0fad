import { type Endpoint, endpoint } from '@paddock/api/endpoint';
import { findOperationEndpoint } from '@paddock/api/operations/operation';
import { notFound, refused } from '@paddock/api/problem';
import { sql } from 'kysely';
import { z } from 'zod';
import { createChangeStreams } from '../changes.ts';

const said = z.object({ id: z.unknown() });
const example = (more: Partial<Endpoint> & Pick<Endpoint, 'name' | 'path'>): Endpoint => ({
  ...endpoint({
    name: '',
    method: 'GET',
    path: '/api/v1/',
    summary: 'An example.',
    access: 'read',
    status: 200,
    input: z.object({ job: z.coerce.number().int() }),
    output: said,
    answer: (caller, input) => Promise.resolve({ id: { person: caller.person, ...input } }),
  }),
  ...more,
});

const failing = (name: string, fail: Endpoint['answer']): Endpoint =>
  example({ name, path: `/api/v1/${name}`, input: z.object({}), answer: fail });

/** Endpoints that answer, act and fail in each way. */
export const ENDPOINTS = [
  example({ name: 'getJob', path: '/api/v1/jobs/{job}' }),
  example({
    name: 'listJobs',
    path: '/api/v1/jobs',
    input: z.object({ pool: z.string().max(5).optional(), after: z.string().optional() }),
    answer: () => Promise.resolve({ items: [], next: 'a"b>c&d' }),
  }),
  example({
    name: 'drain',
    method: 'POST',
    access: 'operate',
    status: 202,
    path: '/api/v1/jobs/{job}/drain',
    input: z.object({ job: z.coerce.number().int(), note: z.string().max(9).optional() }),
    answer: (_caller, input) => Promise.resolve({ id: `of ${String(input['job'])}`, ...input }),
  }),
  failing('unknown', () => Promise.reject(notFound('There is no such thing.'))),
  failing('refused', () => Promise.reject(refused('Not now.'))),
  failing('broken', () => Promise.reject(new TypeError('hidden detail'))),
  failing('slow', ({ db }) => sql`select pg_sleep(60)`.execute(db)),
  failing('senseless', ({ db }) => sql`select ${'noon'}::timestamptz`.execute(db)),
  findOperationEndpoint,
  failing('endless', () => Promise.resolve({ id: 1n })),
];

/** For a listener of the API alone. */
export const NO_PAGE = {
  streams: createChangeStreams({
    look: () => Promise.reject(new Error('nobody looks')),
    listPools: () => Promise.resolve([]),
    lookEveryMs: 2_000,
    onFirst: () => undefined,
  }),
  page: undefined,
  answerSignIn: undefined,
  prefix: '',
};

/** Without an identity provider or a proxy. */
export const TOKENS_ALONE = { accessOf: () => undefined, proxiedIdentity: () => undefined };
