import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

const ANSWER = 'apps/console/src/http/answer.ts';
const answers = ['apps/console/src/http/answer.db.test.ts'];
const tokens = ['packages/api/src/tokens/tokens.db.test.ts'];
const service = ['apps/console/src/service.db.test.ts'];

const DRAINED_POOL = ['packages/api/src/pools/drain-pool.db.test.ts'];
const ASKED = ['packages/api/src/operations/start-operation.db.test.ts'];

/** The promises of the API: who may ask, what is wrong, and that no caller starves the others. */
export const consoleApi: readonly NamedMutant[] = [
  {
    mutant: 'a revoked token goes on working',
    file: 'packages/api/src/tokens/check-token.ts',
    find: "    .where('revoked_at', 'is', null);\n",
    replace: ';',
    tests: tokens,
  },
  {
    mutant: 'the id of a token is enough',
    file: 'packages/api/src/tokens/check-token.ts',
    find: 'return found !== undefined && isRight;',
    replace: 'return found !== undefined;',
    tests: tokens,
  },
  {
    mutant: 'a token for one sign-in signs in twice',
    file: 'packages/api/src/tokens/check-token.ts',
    find: 'one_time and last_used_at is null and',
    replace: 'one_time and',
    tests: ['apps/console/src/page.db.test.ts'],
  },
  {
    mutant: 'a token for one sign-in calls the API',
    file: 'apps/console/src/admit.ts',
    find: '(credential.isForSignIn && !forSignIn)',
    replace: 'false',
    tests: ['apps/console/src/page.db.test.ts'],
  },
  {
    mutant: 'every peer is a proxy that names people',
    file: 'apps/console/src/sign-in/proxy.ts',
    find: '!peers.check(remoteAddress, familyOf(remoteAddress))',
    replace: 'peers.rules.length < 0',
    tests: ['apps/console/src/sign-in/proxy.test.ts'],
  },
  {
    mutant: 'another site acts by what the proxy says',
    file: 'apps/console/src/credential.ts',
    find: 'isFromPage(method, headers) ? proxiedIdentity(request) : undefined',
    replace: 'isFromPage(method, headers) || method !== "" ? proxiedIdentity(request) : undefined',
    tests: ['apps/console/src/sign-in/proxy.test.ts'],
  },
  {
    mutant: 'people whose groups may do nothing come in',
    file: 'packages/api/src/sessions/sessions.ts',
    find: 'return access && { person, access,',
    replace: "return { person, access: access ?? 'read',",
    tests: ['apps/console/src/sign-in/proxy.test.ts'],
  },
  {
    mutant: 'each request writes the last use of its token',
    file: 'packages/api/src/tokens/check-token.ts',
    find: 'if (!found.isUseNoted) ',
    replace: '',
    tests: tokens,
  },
  {
    mutant: 'an action is done although the audit cannot be written',
    file: 'packages/api/src/actions/act.ts',
    find: 'await work(trx)',
    replace: 'await caller.db.transaction().execute(work)',
    tests: ['packages/api/src/actions/actions.db.test.ts'],
  },
  {
    mutant: 'a request that waits for a place never gets one',
    file: 'apps/console/src/places.ts',
    find: 'if (next !== undefined) return next();',
    replace: '',
    tests: ['apps/console/src/changes/changes.test.ts'],
  },
  {
    mutant: 'the end of one person’s sessions ends those of all',
    file: 'packages/api/src/sessions/signed-in.ts',
    find: "\n    .where('person', '=', person)",
    replace: '',
    tests: ['packages/api/src/sessions/sessions.db.test.ts'],
  },
  {
    mutant: 'a narrowed token takes any subject',
    file: 'packages/api/src/tokens/check-token.ts',
    find: 'input[field] === value',
    replace: 'input[field] === value || true',
    tests: answers,
  },
  {
    mutant: 'a narrowed token finds the operations of others',
    file: 'packages/api/src/tokens/check-token.ts',
    find: 'requestedBy === bearer.person',
    replace: 'requestedBy !== undefined',
    tests: answers,
  },
  {
    mutant: 'a narrowed token does not find the operation that another asked for first',
    file: 'packages/api/src/tokens/check-token.ts',
    find: ' || askers.some(({ person }) => person === bearer.person)',
    replace: '',
    tests: ASKED,
  },
  {
    mutant: 'who asks for a merged operation is forgotten',
    file: 'packages/api/src/operations/operation.ts',
    find: "output ->> 'mergedInto' = ",
    replace: "output ->> 'none' = ",
    tests: ASKED,
  },
  {
    mutant: 'a drained worker goes back to work for the next job',
    file: 'packages/db/src/workers/worker-stops.ts',
    find: '((${UNASSIGNED}) or (${RETURNABLE}))',
    replace: '(${UNASSIGNED})',
    tests: ['packages/api/src/workers/drain-worker.db.test.ts'],
  },
  {
    mutant: 'draining a pool lets it make workers',
    file: 'packages/api/src/pools/pools.ts',
    find: '      await setSwitch(trx, `pool:${pool}`, caller.person, why);\n',
    replace: '',
    tests: DRAINED_POOL,
  },
  {
    mutant: 'draining a pool misses the workers of a pass that is under way',
    file: 'packages/api/src/pools/pools.ts',
    find: '      await lockMatching(trx, LIMITS);\n',
    replace: '',
    tests: DRAINED_POOL,
  },
  {
    mutant: 'two people deal with one failed operation',
    file: 'packages/queue/src/operations.ts',
    find: ' and handled_at is null and expires_at > now()`]',
    replace: ' and expires_at > now()`]',
    tests: ['packages/api/src/operations/failed-operations.db.test.ts'],
  },
  {
    mutant: 'a failed operation is retried while its sweep is paused',
    file: 'packages/api/src/operations/failed-operations.ts',
    find: '      await requireRepeatable(trx, failed);\n',
    replace: '',
    tests: ['packages/api/src/operations/failed-operations.db.test.ts'],
  },
  {
    mutant: 'a dry run takes the place of a real one',
    file: 'packages/api/src/sweeps/run-sweep.ts',
    find: "subject: { type: 'dry-run', id: sweep },",
    replace: "subject: { type: 'schedule', id: sweep },",
    tests: ASKED,
  },
  {
    mutant: 'a narrowed token learns which paths there are',
    file: ANSWER,
    find: 'bearer.narrowedTo === null ? reply : STRANGER',
    replace: 'bearer.narrowedTo === undefined ? STRANGER : reply',
    tests: answers,
  },
  {
    mutant: 'a token that may only read acts',
    file: ANSWER,
    find: "endpoint.access === 'operate' && bearer.access === 'read'",
    replace: 'false',
    tests: answers,
  },
  {
    mutant: 'a misspelt filter is passed over',
    file: 'apps/console/src/create-listener.ts',
    find: 'endpoint.input.strict()',
    replace: 'endpoint.input',
    tests: answers,
  },
  {
    mutant: 'a page of another site can send an action',
    file: 'apps/console/src/http/read-body.ts',
    find: 'hasBody(request) ? { reply: WRONG_TYPE } : { fields: {} }',
    replace: 'hasBody(request) ? { fields: {} } : { fields: {} }',
    tests: answers,
  },
  {
    mutant: 'one caller may take all connections',
    file: 'apps/console/src/main.ts',
    find: 'Math.floor(answering.pool.options.max / 2)',
    replace: '1_000',
    tests: service,
  },
  {
    mutant: 'a console that stops keeps connections open',
    file: 'apps/console/src/create-listener.ts',
    find: "    if (isStopping()) response.set('connection', 'close');\n",
    replace: '',
    tests: service,
  },
];
