import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { ApiAnswer } from './call-api.scene.ts';

type Json = { readonly [key: string]: unknown };

const description = JSON.parse(
  readFileSync(new URL('../github/openapi.json', import.meta.url), 'utf8'),
) as {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Json>> }>>>
  >;
  readonly components: Json;
};

export const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(toJsonSchema({ $id: 'github', components: description.components }) as Json);

/** Translates OpenAPI 3.0's `nullable` to JSON Schema. */
function toJsonSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toJsonSchema);
  if (typeof value !== 'object' || value === null) return value;
  const { nullable, discriminator: _, ...rest } = value as Json;
  const schema: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(rest))
    schema[key] = key === 'enum' || key === 'default' ? inner : toJsonSchema(inner);
  if (typeof schema['$ref'] === 'string') schema['$ref'] = schema['$ref'].replace(/^#/, 'github#');
  return nullable === true ? { anyOf: [schema, { type: 'null' }] } : schema;
}

function resolve(value: Json): Json {
  const reference = value['$ref'];
  if (typeof reference !== 'string') return value;
  return reference
    .slice(2)
    .split('/')
    .reduce<Json>((node, key) => node[key] as Json, description as unknown as Json);
}

/**
 * The validator of an answer; undefined where the description has no body. Throws for an unknown
 * status.
 */
function validatorOf(method: string, path: string, status: number): ValidateFunction | undefined {
  // The description of the list of installations requires an account to be a person and an
  // enterprise at once. The single installation is described rightly.
  if (method === 'get' && path === '/app/installations') {
    return ajv.compile({
      type: 'array',
      items: { $ref: 'github#/components/schemas/installation' },
    });
  }
  const response = description.paths[path]?.[method]?.responses[status];
  if (response === undefined)
    throw new Error(`The description knows no status ${status} of ${method} ${path}.`);
  const content = resolve(response)['content'] as
    | Readonly<Record<string, { readonly schema: Json }>>
    | undefined;
  const schema = content?.['application/json']?.schema;
  return schema === undefined ? undefined : ajv.compile(toJsonSchema(schema) as Json);
}

/** The faults of an answer; empty when it is right. */
export function problemsOf(method: string, path: string, { status, body }: ApiAnswer): unknown {
  const validate = validatorOf(method, path, status);
  if (validate === undefined) return body === undefined ? [] : 'a body where none is described';
  return validate(body) ? [] : validate.errors;
}
