import { expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { ask } from '../scenes/ask.scene.ts';
import {
  beginSession,
  checkSession,
  endSessionsEndpoint,
  listSessionsEndpoint,
  parseSession,
} from './sessions.ts';

const database = useTestDatabase();

test('a request ends all sessions of one person, and none of others (G5)', async () => {
  const db = database.dbOf('console');
  const begin = async (name: string) => {
    const text = await beginSession(db, { person: `person ${name}`, groups: ['ci'] });
    const session = parseSession(text);
    if (session === undefined) throw new Error(`${text} is no session.`);
    return async () => (await checkSession(db, session, () => 'read'))?.person;
  };
  const [ada, again, bob] = [await begin('ada@x'), await begin('ada@x'), await begin('bob/?#x')];
  const first = await ask(listSessionsEndpoint, db, { limit: 1 });
  expect(first.items).toEqual([
    { person: 'ada@x', sessions: 2, since: expect.any(String), until: expect.any(String) },
  ]);
  const rest = await ask(listSessionsEndpoint, db, { after: first.next });
  expect(rest.items.map(({ person }) => person)).toEqual(['bob/?#x']);

  const end = (person: string) => ask(endSessionsEndpoint, db, { person }, 'grace');
  expect(await end('ada@x')).toEqual({ person: 'ada@x', ended: 2 });
  expect([await ada(), await again(), await bob()]).toEqual([
    undefined,
    undefined,
    'person bob/?#x',
  ]);
  expect(await end('ada@x')).toEqual({ person: 'ada@x', ended: 0 });
  expect((await ask(listSessionsEndpoint, db)).items).toHaveLength(1);
  const done = await database.db.selectFrom('actions').select(['person', 'subject']).execute();
  expect(done).toEqual([1, 2].map(() => ({ person: 'grace', subject: { person: 'ada@x' } })));
});
