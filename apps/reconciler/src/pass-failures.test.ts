import { expect, test } from '@jest/globals';
import { createPassFailures } from './pass-failures.ts';

const ONE = { appId: 1, installationId: 10, repoId: 100 };
const OF_ANOTHER = { appId: 1, installationId: 20, repoId: 200 };
const BESIDE = { ...ONE, repoId: 101 };
const OF_NO_REPOSITORY = { ...ONE, repoId: 0 };
const ASKED = [ONE, BESIDE, OF_NO_REPOSITORY, OF_ANOTHER];

test.each([
  [
    'a repository',
    { kind: 'forbidden', operation: 'GET /repos/acme/api/actions/runs', status: 403 },
    [true, false, false, false],
  ],
  [
    'a token',
    { kind: 'forbidden', operation: 'POST /app/installations/10/access_tokens', status: 403 },
    [true, true, true, false],
  ],
  [
    'the App',
    { kind: 'unauthorized', operation: 'POST /app/installations/10/access_tokens', status: 401 },
    [true, true, true, true],
  ],
] as const)(
  'a refusal of %s stops further calls about it in a pass, and other calls continue (P6)',
  (_what, failure, pointless) => {
    const failures = createPassFailures();
    failures.note(ONE, { ...failure, message: 'no' });
    expect(ASKED.map((asked) => failures.isPointless(asked))).toEqual(pointless);
  },
);
