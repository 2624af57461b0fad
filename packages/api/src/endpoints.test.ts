import { describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describeApi } from './description/describe-api.ts';
import { fieldsOfPath } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';

const named = ENDPOINTS.map((endpoint) => ({ ...endpoint, title: endpoint.name }));

describe('the endpoints', () => {
  test('have names and places of their own', () => {
    const names = ENDPOINTS.map(({ name }) => name);
    const places = ENDPOINTS.map(
      ({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`,
    );
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(places.filter((place, index) => places.indexOf(place) !== index)).toEqual([]);
  });

  test.each(named)('$title reads each field of its path', ({ path, input }) => {
    const fields = fieldsOfPath(path);
    expect(fields.filter((field) => !(field in input.shape))).toEqual([]);
    // A segment of a path is never empty, so no such field may be left out.
    expect(fields.filter((field) => input.shape[field]?.safeParse(undefined).success)).toEqual([]);
  });

  test.each(named)(
    '$title acts only for a token that may operate',
    ({ method, access, status }) => {
      expect(method === 'GET' ? status : access).toBe(method === 'GET' ? 200 : 'operate');
    },
  );

  test.each(named)('$title has one plain sentence', ({ summary }) => {
    expect(summary).toMatch(/^[A-Z].*[^.]\.$/);
  });

  test('are all in the description', () => {
    const paths = describeApi(ENDPOINTS)['paths'] as Record<
      string,
      Record<string, { operationId: string }>
    >;
    const described = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(described.toSorted()).toEqual(ENDPOINTS.map(({ name }) => name).toSorted());
  });

  test('are described in valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(describeApi(ENDPOINTS))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    const wrong = { ...describeApi(ENDPOINTS), paths: [] };
    expect((await validator.validate(wrong)).valid).toBe(false);
  });
});
