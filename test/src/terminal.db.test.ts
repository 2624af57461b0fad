import { beforeAll, describe, expect, test } from '@jest/globals';
import { listWorkersEndpoint } from '@paddock/api/workers/workers';
import type { CommandResult } from '@paddock/cli/command';
import { runCommand } from '@paddock/cli/run-command';
import { makeToken, useConsole } from '@paddock/console/scenes/console.scene';
import { putWorker } from '@paddock/testing/demand-rows';
import { putFleet } from './scenes/fleet.scene.ts';

/** The answers to these are of the time when they are given, and so is the width of a column of ages. */
const withoutAges = ({ stdout, ...rest }: CommandResult) => ({
  ...rest,
  stdout: stdout.replaceAll(AGES, '').replaceAll(/ +/g, ' '),
});

const AGES = /(?:\b\d+ (?:s|min)\b ?)+|"(?:ageMs|readAt)":[^,]+/g;

describe('the terminal on the database and over the API', () => {
  const { database, service } = useConsole();
  let token: string;
  let ids: Record<'JOB' | 'WORKER' | 'OPERATION', string>;

  beforeAll(async () => {
    const { waiting, failed, operation } = await putFleet(database.db);
    ids = { JOB: String(waiting), WORKER: failed, OPERATION: operation };
    token = await makeToken(database, { name: 'ada' });
  });

  const here = (...words: string[]) =>
    runCommand(words, { DATABASE_URL: database.url, PADDOCK_SCHEMA: database.schema });
  const there = (words: readonly string[], by = token) =>
    runCommand(words, { PADDOCK_URL: `http://127.0.0.1:${service.port}`, PADDOCK_TOKEN: by });

  const namesOf = async (...words: string[]) => {
    const { stdout } = await there(['workers', '--json', ...words]);
    const { items, next } = listWorkersEndpoint.output.parse(JSON.parse(stdout));
    return { names: items.map(({ name }) => name), next };
  };

  test.each([
    'jobs --limit 40',
    'jobs --repository acme/web --workflow Nightly --conclusion failure --from -7d',
    'job JOB',
    'why JOB',
    'why https://github.com/acme/api/actions/runs/77',
    'worker WORKER',
    'worker ä/../b?c#d%2F',
    'usage --by pool --from 2026-01-01 --to 2026-01-05',
    'installation 51000001 --at 2026-01-31',
    'redeliveries',
    'delivery 0b989ba4-242f-11e5-81e1-c7b6966d2516',
    'find gpu-a100',
    'diagnose acme',
    'operations repository:acme/api --detail --limit 1',
    'operations --status ERROR --limit 3',
    'repositories --entity acme',
    'repository acme/web',
    'operations counts --from 2026-01-01 --to 2026-01-05',
    'operation OPERATION',
    'pools',
    'switches',
  ])('%s prints the same, as a table and as JSON (D12)', async (line) => {
    const words = line
      .split(' ')
      .map((word) => (word in ids ? ids[word as keyof typeof ids] : word));
    for (const more of [[], ['--json']]) {
      const [own, api] = [await here(...words, ...more), await there([...words, ...more])];
      expect(withoutAges(api)).toEqual(withoutAges(own));
      expect(own.stdout + own.stderr).not.toBe('');
    }
  });

  test('a long list is read page by page, each item once (D12)', async () => {
    for (let n = 0; n < 200; n += 1) await putWorker(database.db, {});
    const { length: all } = await database.db.selectFrom('workers').select('pod_name').execute();
    const first = await namesOf('--limit', '150');
    const rest = await namesOf('--limit', '10000', '--after', first.next ?? '');
    expect(first.names).toHaveLength(150);
    expect(new Set([...first.names, ...rest.names]).size).toBe(all);
    expect(rest.next).toBeNull();
  });

  test('top shows the same fleet (D12)', async () => {
    const [own, api] = [await here('top', '--json'), await there(['top', '--json'])].map(
      ({ stdout }) => stdout.replace(/^{"at":"[^"]+"/, '{'),
    );
    expect(api).toBe(own);
    expect(JSON.parse(own?.replace(',', '') ?? '')).toMatchObject({
      pools: expect.arrayContaining([expect.objectContaining({ name: 'gpu-a100' })]),
      waits: [{ reason: 'at_pool_cap', waiting: 15, pools: ['gpu-a100', 'linux-x64'] }],
      failed: { workers: [expect.objectContaining({ name: ids.WORKER })] },
    });
  });

  test('what one stops, the other one sees and ends; each says who it was (F5)', async () => {
    const stopped = await there(['pause', 'pool:gpu-a100', '--note', 'an image']);
    expect(stopped.stdout).toMatch(/is paused by token ada since \S+: an image\n$/);
    expect(await here('pause', 'pool:gpu-a100', '--by', 'grace')).toEqual(stopped);
    expect((await here('resume', 'pool:gpu-a100')).stdout).toMatch(/goes on\.\n$/);
    const task = await there(['resync', 'acme/api']);
    expect(task).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^queued: discover-jobs/),
    });
    expect((await here('resync', 'acme/api', '--by', 'grace')).stdout).toContain(
      'asked for by token ada',
    );
  });

  test('a token that may only read is told what it lacks, and a revoked one too (F7)', async () => {
    const made = await there(['token', 'create', 'reader']);
    const reader = made.stdout.trim();
    const refused = await there(['pause', 'sweeps'], reader);
    expect(refused.stderr).toMatch(
      /^POST http\S+\/switches\/sweeps\/pause was refused: .* needs the access `operate`/,
    );
    expect((await there(['token', 'revoke', 'reader', '--note', 'lost'])).stdout).toContain(
      'reader',
    );
    const unknown = await there(['pools'], reader);
    expect(unknown.stderr).toMatch(
      /^GET http\S+\/pools was refused: PADDOCK_TOKEN is unknown there/,
    );
    expect(refused.stderr + unknown.stderr).not.toContain(reader);
  });
});
