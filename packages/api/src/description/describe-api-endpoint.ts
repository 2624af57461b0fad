import { z } from 'zod';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { describeApi } from './describe-api.ts';

/** `all` gives the endpoints that are described, this one among them. */
export const describeApiEndpoint = (all: () => readonly Endpoint[]) =>
  endpoint({
    name: 'describeApi',
    method: 'GET',
    path: '/api/v1/openapi.json',
    summary: 'Describes this API, in OpenAPI 3.1.',
    access: 'read',
    status: 200,
    input: z.object({}),
    output: z.looseObject({ openapi: z.string() }),
    answer: () => Promise.resolve(describeApi(all())),
  });
