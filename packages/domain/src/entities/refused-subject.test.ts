import { expect, test } from '@jest/globals';
import { refusalReason, refusedSubject } from './refused-subject.ts';

test.each([
  ['unauthorized', 'POST /app/installations/5/access_tokens', 'app'],
  ['unauthorized', 'GET /app', 'app'],
  ['not_found', 'POST /app/installations/5/access_tokens', 'entity'],
  ['forbidden', 'POST /api/v3/app/installations/5/access_tokens', 'entity'],
  ['not_found', 'GET /app/installations/5', undefined],
  ['forbidden', 'GET /app/hook/deliveries', undefined],
  ['unauthorized', 'GET /repos/acme/api/actions/runs', 'entity'],
  ['forbidden', 'GET /repos/acme/api/actions/runs', 'repository'],
  ['not_found', 'POST /repos/acme/api/actions/runners/generate-jitconfig', 'repository'],
  ['forbidden', 'GET /api/v3/repositories/7', 'repository'],
  ['forbidden', 'GET /orgs/acme/actions/runners', 'entity'],
  ['not_found', 'GET /orgs/repos/actions/runners', 'entity'],
  ['forbidden', 'GET /installation/repositories', 'entity'],
  ['rate_limited', 'GET /repos/acme/api/actions/runs', undefined],
  ['outdated', 'GET /repos/acme/api/actions/runs', undefined],
  ['unavailable', 'POST /app/installations/5/access_tokens', undefined],
  ['unknown', 'unknown', undefined],
] as const)('%s of %s speaks of %s (C9)', (kind, operation, subject) => {
  expect(refusedSubject({ kind, operation })).toBe(subject);
});

test.each([
  ['repository', 'not_found', 'repository_gone'],
  ['repository', 'forbidden', 'repository_refused'],
  ['entity', 'not_found', 'installation_gone'],
  ['entity', 'forbidden', 'installation_refused'],
  ['app', 'unauthorized', 'installation_refused'],
] as const)(
  'where the %s is refused (%s), jobs wait with the reason %s (P5)',
  (subject, kind, reason) => {
    expect(refusalReason(subject, kind)).toBe(reason);
  },
);
