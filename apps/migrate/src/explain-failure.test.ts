import { describe, expect, test } from '@jest/globals';
import { UnfitDatabase } from '@paddock/db/migrate';
import { explainFailure } from './explain-failure.ts';

const raised = (code: string, message = 'as PostgreSQL says') =>
  Object.assign(new Error(message), { code });

describe('a failure that an operator can repair is explained in a sentence (A10)', () => {
  test.each([
    ['ECONNREFUSED', 'cannot be reached'],
    ['ENOTFOUND', 'cannot be reached'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'cannot be reached'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'cannot be reached'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'cannot be reached'],
    ['28P01', 'refused the login'],
    ['3D000', 'no such database'],
    ['42501', 'lacks a right'],
    ['55P03', 'A lock in the schema prod'],
    ['53300', 'could not run the migration now'],
    ['53400', 'could not run the migration now'],
    ['57P03', 'could not run the migration now'],
  ])('%s: %s', (code, sentence) => {
    expect(explainFailure(raised(code), 'prod')).toContain(sentence);
  });

  test('a server without TLS is named as the problem', () => {
    const refused = new Error('The server does not support SSL connections');
    expect(explainFailure(refused, 'prod')).toContain('leave sslmode out of DATABASE_URL');
  });

  test('the cause of a failed migration is what counts', () => {
    const failed = new Error('Migration 0001_schema failed', {
      cause: raised('42501', 'permission denied for database paddock'),
    });
    expect(explainFailure(failed, 'prod')).toContain('permission denied for database paddock');
  });

  test('a host with several addresses fails with one error for each', () => {
    const failed = new AggregateError(
      [raised('ECONNREFUSED', 'connect ECONNREFUSED ::1:5432')],
      '',
    );
    expect(explainFailure(failed, 'prod')).toContain('connect ECONNREFUSED ::1:5432');
  });

  test('a database on which no version could work', () => {
    const why = 'PostgreSQL 14 is too old';
    expect(explainFailure(new UnfitDatabase(why), 'prod')).toContain(`${why}. Nothing was changed`);
  });

  test('any other failure is our defect, and its stack is shown', () => {
    for (const error of [raised('42601'), raised('42P07'), new Error('a bug'), undefined])
      expect(explainFailure(error, 'prod')).toBeUndefined();
  });
});
