import { beforeEach, describe, expect, test } from '@jest/globals';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { z } from 'zod';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { ask } from '../scenes/ask.scene.ts';
import { checkToken } from './check-token.ts';
import { mayCall, mayTouch } from './may-call.ts';
import { createTokenEndpoint, listTokensEndpoint, revokeTokenEndpoint } from './tokens.ts';

const example = (more: Pick<Endpoint, 'name' | 'path' | 'access'>) =>
  endpoint({
    ...more,
    method: 'POST',
    summary: 'An example.',
    status: 200,
    input: z.object({ owner: z.string().toLowerCase(), job: z.coerce.number().int() }),
    output: z.object({}),
    answer: () => Promise.resolve({}),
  });
const stop = example({ name: 'stop', path: '/api/v1/{owner}/jobs/{job}', access: 'operate' });
const look = example({ name: 'look', path: '/api/v1/jobs/{job}', access: 'read' });
const list = example({ name: 'list', path: '/api/v1/jobs', access: 'read' });

const createToken = createTokenEndpoint([stop, look, list]);

describe('tokens (F7)', () => {
  // Checked with the rights of the console, too.
  const database = useTestDatabase();
  const db = () => database.dbOf('console');
  const create = (input: object, person?: string) =>
    ask(createToken, db(), { name: 'ci', access: 'operate', ...input }, person);

  beforeEach(() => emptyTables(database.db, ['tokens']));

  test('a token is shown once, and is nowhere in the rows', async () => {
    const { token } = await create({});
    const { rows } = await sql<{ text: string }>`select t::text as text from tokens t`.execute(
      db(),
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.text).not.toContain(token.slice(-43));
    expect(JSON.stringify(await ask(listTokensEndpoint, db()))).not.toContain(token.slice(-43));
  });

  test('its bearer has its name and its rights', async () => {
    const { token } = await create({ access: 'read' }, 'ada');
    expect(await checkToken(db(), token)).toEqual({
      person: 'token ci',
      token: 'ci',
      access: 'read',
      narrowedTo: null,
    });
  });

  test('its use is noted at most once an hour', async () => {
    const { token, lastUsedAt } = await create({});
    expect(lastUsedAt).toBeNull();
    const used = async () => {
      await checkToken(db(), token);
      const { items } = await ask(listTokensEndpoint, db());
      return items[0]?.lastUsedAt;
    };
    const first = await used();
    expect(first).not.toBeNull();
    expect(await used()).toBe(first);
    await sql`update tokens set last_used_at = last_used_at - interval '61 minutes'`.execute(db());
    expect(new Date((await used()) ?? 0).getTime()).toBeGreaterThanOrEqual(
      new Date(first ?? 0).getTime(),
    );
  });

  test('a revoked token has no bearer, and stays in the list with who revoked it first', async () => {
    const { token } = await create({}, 'ada');
    const revoked = await ask(revokeTokenEndpoint, db(), { token: 'ci' }, 'grace');
    expect(revoked).toMatchObject({ createdBy: 'ada', revokedBy: 'grace' });
    expect(await checkToken(db(), token)).toBeUndefined();
    expect(await ask(revokeTokenEndpoint, db(), { token: 'ci' }, 'eve')).toEqual(revoked);
    expect((await ask(listTokensEndpoint, db())).items).toEqual([revoked]);
    await expect(ask(revokeTokenEndpoint, db(), { token: 'cd' })).rejects.toMatchObject({
      status: 404,
    });
  });

  test.each([
    ['its id alone', (token: string) => token.slice(0, 24)],
    ['another secret', (token: string) => `${token.slice(0, -43)}${'A'.repeat(43)}`],
    ['an id without a row', (token: string) => token.replace(/_.{16}_/, `_${'0'.repeat(16)}_`)],
    ['one character more', (token: string) => `${token}A`],
    [
      'the hash in place of the secret',
      (token: string) => `${token.slice(0, 25)}${'0'.repeat(64)}`,
    ],
  ])('%s in place of a token has no bearer', async (_what, change) => {
    const { token } = await create({});
    expect(await checkToken(db(), change(token))).toBeUndefined();
  });

  test('a narrowed token is for one endpoint and one subject, in the endpoint’s own reading', async () => {
    const { token, narrowedTo } = await create({
      endpoint: 'stop',
      subject: { owner: 'Acme', job: '7' },
    });
    expect(narrowedTo).toEqual({ endpoint: 'stop', subject: { owner: 'acme', job: 7 } });
    const bearer = await checkToken(db(), token);
    if (bearer === undefined) throw new Error('The token is good.');
    expect([stop, look, list].filter((one) => mayCall(bearer, one))).toEqual([stop]);
    expect(mayTouch(bearer, stop, { owner: 'acme', job: 7, more: true })).toBe(true);
    for (const input of [{ owner: 'acme', job: 8 }, { owner: 'acme', job: '7' }, { job: 7 }, {}])
      expect([input, mayTouch(bearer, stop, input)]).toEqual([input, false]);
  });

  test.each(['', 'A', '-a', 'a/b', 'a'.repeat(64)])('no token has the name "%s"', async (name) => {
    await expect(create({ name })).rejects.toThrow(z.ZodError);
  });
});
