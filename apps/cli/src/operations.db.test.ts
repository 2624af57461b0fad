import { beforeAll, describe, expect, test } from '@jest/globals';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { runCommand } from './run-command.ts';

describe('paddock operations', () => {
  const database = useTestDatabase();
  const paddock = (...words: string[]) =>
    runCommand(words, { DATABASE_URL: database.url, PADDOCK_SCHEMA: database.schema });
  let id = '';

  beforeAll(async () => {
    const subject = { type: 'repository', id: 'acme/app', name: 'acme/\u001B[2Japp' };
    const requestedBy = 'ada';
    const [task] = await enqueueAlone(database.db, [{ kind: 'resync', subject, requestedBy }]);
    id = task?.id ?? '';
  });

  test('shows columns, in which foreign text moves no cursor (F4)', async () => {
    const { code, stdout, stderr } = await paddock('operations', 'repository:acme/app');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [heads = '', row = '', ...rest] = stdout.split('\n');
    expect(heads).toMatch(/^ID +KIND +SUBJECT +STATUS/);
    expect(row).toContain(id);
    expect(row).toMatch(/ resync +repository:acme\/·\[2Japp +QUEUED +0\/5 .* ada +-$/);
    expect(rest).toEqual(['']);
  });

  test('prints the API’s own answer with --json (F1)', async () => {
    const { stdout } = await paddock('operation', id, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ id, status: 'QUEUED', requestedBy: 'ada' });
  });

  test.each([
    [['operations'], "missing required argument 'TYPE:ID'"],
    [['operations', 'acme'], 'must be TYPE:ID'],
    [['operations', 'a:b', '--limit', '0'], 'limit must be at least 1'],
    [['operations', 'failed', '--after', 'x'], 'must be the `next` of a page of this list'],
    [['operations', 'counts', '--from', 'noon'], 'must be a day'],
    [['operation', 'a', 'b'], 'too many arguments'],
  ])('%j is a wrong command', async (words, problem) => {
    const { code, stdout, stderr } = await paddock(...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(problem);
    expect(stderr).toContain('Usage: paddock operation');
  });
});
