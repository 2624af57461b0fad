import { z } from 'zod';
import { type Endpoint, endpoint, fieldsOfPath } from '../endpoint.ts';
import { problemDetails } from '../problem.ts';

/** Its content is as OpenAPI says. */
export type OpenApi = Readonly<Record<string, unknown>> & { readonly openapi: string };

export function describeApi(endpoints: readonly Endpoint[]): OpenApi {
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  const paths = [...byPath].map(([path, there]) => [
    path,
    Object.fromEntries(there.map((one) => [one.method.toLowerCase(), operation(one)])),
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Paddock',
      version: 'v1',
      description:
        'What people read and do. Instants are ISO 8601 in UTC. A list answers `items` and `next`; the next page is at `after=NEXT`, and in the header `Link`.',
    },
    security: [{ token: [] }],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: '`paddock token create`' },
      },
      schemas: { Problem: schemaOf(problemDetails) },
    },
  };
}

const ACCESS = {
  read: 'Any token may call it.',
  operate: 'The token needs the access `operate`.',
} as const;

function operation(of: Endpoint): Record<string, unknown> {
  const { name, method, path, summary, access, status, input, output } = of;
  const { properties = {}, required = [] } = schemaOf(input);
  const inPath = fieldsOfPath(path);
  const others = Object.keys(properties).filter((field) => !inPath.includes(field));
  const parameter = (field: string) => ({
    name: field,
    in: inPath.includes(field) ? 'path' : 'query',
    required: inPath.includes(field) || required.includes(field),
    schema: properties[field],
  });
  const body = {
    type: 'object',
    properties: Object.fromEntries(others.map((field) => [field, properties[field]])),
    required: required.filter((field) => others.includes(field)),
    additionalProperties: false,
  };
  return {
    operationId: name,
    summary,
    description: ACCESS[access],
    parameters: (method === 'GET' ? [...inPath, ...others] : inPath).map(parameter),
    ...(method !== 'GET' &&
      others.length > 0 && {
        requestBody: {
          required: body.required.length > 0,
          content: { 'application/json': { schema: body } },
        },
      }),
    responses: {
      [status]: {
        description: status === 202 ? 'The operation of the enqueued task' : 'The answer',
        content: { 'application/json': { schema: schemaOf(output) } },
      },
      default: {
        description: 'What is wrong',
        content: {
          'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
        },
      },
    },
  };
}

/** What travels is what a schema takes: an input before it is read, an output as it is sent. */
function schemaOf(schema: z.ZodType): z.core.JSONSchema.JSONSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return rest;
}

/** `all` gives the endpoints that are described, this one among them. */
export const describeApiEndpoint = (all: () => readonly Endpoint[]) =>
  endpoint({
    name: 'describeApi',
    path: '/api/v1/openapi.json',
    summary: 'Describes this API, in OpenAPI 3.1.',
    input: z.object({}),
    output: z.looseObject({ openapi: z.string() }),
    answer: () => Promise.resolve(describeApi(all())),
  });
