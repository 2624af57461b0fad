import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

const SESSIONS = 'packages/api/src/sessions/sessions.ts';
const CHECK = 'packages/api/src/tokens/check-token.ts';
const COOKIE = 'apps/console/src/session/cookie.ts';
const CHANGES = 'apps/console/src/changes/changes.ts';

const cookie = ['apps/console/src/sign-in/proxy.test.ts'];
const page = ['apps/console/src/page.db.test.ts'];
const signIn = ['apps/console/src/sign-in/oidc.db.test.ts'];

/** Who gets into the console and its page: sessions, other sites, proxies, floods. */
export const consoleAccess: readonly NamedMutant[] = [
  {
    mutant: 'a token for one sign-in answers requests',
    file: CHECK,
    find: `selectToken(db, id).where('one_time', '=', false).executeTakeFirst()`,
    replace: 'selectToken(db, id).executeTakeFirst()',
    tests: page,
  },
  {
    mutant: 'a session outlives its token',
    file: SESSIONS,
    find: `    .where('revoked_at', 'is', null)\n`,
    replace: '',
    tests: page,
  },
  {
    mutant: 'a token’s session has no end',
    file: SESSIONS,
    find: `    .where(GOES_ON)\n    .where('revoked_at'`,
    replace: `    .where('revoked_at'`,
    tests: page,
  },
  {
    mutant: 'a person’s session has no end',
    file: SESSIONS,
    find: `    .where('person', 'is not', null)\n    .where(GOES_ON)\n`,
    replace: `    .where('person', 'is not', null)\n`,
    tests: signIn,
  },
  {
    mutant: 'the id of a token’s session is enough',
    file: CHECK,
    find: 'if (!proves(secret, found)) return undefined;',
    replace: 'if (found === undefined) return undefined;',
    tests: page,
  },
  {
    mutant: 'the id of a person’s session is enough',
    file: SESSIONS,
    find: '!proves(secret, identity)',
    replace: 'identity === undefined',
    tests: signIn,
  },
  {
    mutant: 'an act by cookie needs no header of the page',
    file: COOKIE,
    find: '(isReading || headers[PAGE_HEADER] !== undefined)',
    replace: 'true',
    tests: cookie,
  },
  {
    mutant: 'a page of a neighbouring host reads with a visitor’s session',
    file: COOKIE,
    find: `site === 'same-origin' ||`,
    replace: `site !== 'cross-site' ||`,
    tests: cookie,
  },
  {
    mutant: 'a person of no group may read',
    file: 'apps/console/src/sign-in/access-of.ts',
    find: `return mayRead ? 'read' : undefined;`,
    replace: `return mayRead || groups.length >= 0 ? 'read' : undefined;`,
    tests: signIn,
  },
  {
    mutant: 'a stream goes on after its token was revoked',
    file: CHANGES,
    find: 'if (isOver(client) || now',
    replace: 'if ((isOver(client) && now < 0) || now',
    tests: ['apps/console/src/changes/changes.test.ts'],
  },
  {
    mutant: 'one token takes the streams of all',
    file: CHANGES,
    find: 'mostEach: 100',
    replace: 'mostEach: 500',
    tests: page,
  },
  {
    mutant: 'a page that reads nothing fills the memory',
    file: CHANGES,
    find: 'if (client.response.writableLength > MOST_UNREAD_BYTES)',
    replace: 'if (client.response.writableLength > Infinity)',
    tests: ['apps/console/src/changes/changes.test.ts'],
  },
  {
    mutant: 'the page comes without its policy',
    file: 'apps/console/src/page/page-reply.ts',
    find: "  'content-security-policy': POLICY,\n",
    replace: '',
    tests: page,
  },
  {
    mutant: 'a body has no limit',
    file: 'apps/console/src/http/read-body.ts',
    find: '65_536',
    replace: '65_536_000',
    tests: ['apps/console/src/http/answer.db.test.ts'],
  },
];
