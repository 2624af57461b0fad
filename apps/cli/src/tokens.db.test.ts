import { beforeEach, describe, expect, test } from '@jest/globals';
import { checkToken } from '@paddock/api/tokens/check-token';
import { emptyTables } from '@paddock/testing/empty-tables';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { runCommand } from './run-command.ts';

describe('paddock token (F7)', () => {
  const database = useTestDatabase();
  const paddock = (...words: string[]) =>
    runCommand(words, { DATABASE_URL: database.url, PADDOCK_SCHEMA: database.schema });
  beforeEach(() => emptyTables(database.db, ['tokens', 'actions']));

  test('prints a new token alone, which reads unless told otherwise', async () => {
    const { code, stdout } = await paddock('token', 'create', 'ci', '--by', 'ada');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^paddock_\S+\n$/);
    expect(await checkToken(database.db, stdout.trim())).toMatchObject({ access: 'read' });
  });

  test('shows and revokes tokens by name', async () => {
    await paddock('token', 'create', 'ci', '--access', 'operate', '--by', 'ada');
    const { stdout } = await paddock('token', 'revoke', 'ci', '--by', 'grace');
    expect(stdout).toMatch(/^NAME .*\nci +operate +- +\S+ +ada +- +\S+ +grace\n$/);
    expect((await paddock('token', 'list')).stdout).toBe(stdout);
    expect(await paddock('token', 'revoke', 'none')).toMatchObject({
      code: 1,
      stderr: 'There is no token of the name none.\n',
    });
  });

  test('says who did what in a terminal, and why', async () => {
    await paddock('token', 'create', 'ci', '--by', 'ada', '--note', 'for the build');
    const { stdout } = await paddock('actions');
    expect(stdout).toMatch(/^AT .*\n\S+ +ada +terminal +createToken +token=ci +for the build\n$/);
  });
});
