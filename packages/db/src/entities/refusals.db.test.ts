import { beforeEach, describe, expect, test } from '@jest/globals';
import { putInstallation, putWorker } from '@paddock/testing/demand-rows';
import { emptyAll, useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { findWorkerToStop } from '../workers/stopping-workers.ts';
import { endRefusals, endRefusalsOfApp, recordRefusal } from './refusals.ts';

const database = useTestDatabase();
beforeEach(async () => {
  await emptyAll(database.db);
  for (const [entity, app] of [
    [7, 1001],
    [8, 1001],
    [8, 1002],
  ] as const)
    await putInstallation(database.db, {
      entity_id: entity,
      app_id: app,
      installation_id: app + entity,
    });
});

const APPS = [1001, 1002];
const PLACE = {
  appId: 1001,
  installationId: 1008,
  entityId: 7,
  entityType: 'User',
  login: 'mona',
  repoId: 11,
} as const;
const TOKEN = 'POST /app/installations/5/access_tokens';
const RUNNERS = 'GET /repos/mona/tool/actions/runners';
const CALLS = {
  app: { kind: 'unauthorized', operation: TOKEN, status: 401, message: 'wrong key' },
  entity: { kind: 'forbidden', operation: TOKEN, status: 403, message: 'suspended' },
  repository: { kind: 'forbidden', operation: RUNNERS, status: 403, message: 'not accessible' },
} as const;
type Subject = keyof typeof CALLS;
const SUBJECTS = ['app', 'entity', 'repository'] as const;

const refuse = (
  subject: Subject,
  place: Partial<Parameters<typeof recordRefusal>[2]['call']> = {},
) =>
  recordRefusal(database.db, 'reconciler', {
    call: { ...PLACE, ...place },
    refusal: CALLS[subject],
  });

/** Whether GitHub may be asked about a worker of this App, entity and repository. */
async function isRefused({ appId = 1001, entityId = 7, repoId = 11 } = {}) {
  const place = { app_id: appId, entity_id: entityId, scope_repo_id: repoId };
  const { pod_name: podName } = await putWorker(database.db, place);
  return (await findWorkerToStop(database.db, podName, APPS))?.isRefused;
}

describe('a refusal of GitHub’s belongs to the thing that it names', () => {
  test.each([
    ['repository', [true, false, false, false]],
    ['entity', [true, true, false, false]],
    ['app', [true, true, false, false]],
  ] as const)(
    'of the %s: others go on, an entity with another App by that one (C9)',
    async (subject, expected) => {
      await refuse(subject);
      expect([
        await isRefused(),
        await isRefused({ repoId: 12 }),
        await isRefused({ entityId: 8, repoId: 13 }),
        await isRefused({ appId: 1002, entityId: 8, repoId: 13 }),
      ]).toEqual(expected);
    },
  );

  test('of an installation that another has replaced meanwhile: it says nothing of that (A12)', async () => {
    await refuse('entity', { installationId: 4 });
    expect(await isRefused()).toBe(false);
  });

  test('of a repository that has another owner meanwhile: it says nothing of that (A12)', async () => {
    await refuse('repository');
    const [entity_id, refused_until] = [8, new Date(0)];
    await database.db.updateTable('repositories').set({ entity_id, refused_until }).execute();
    expect(await refuse('repository')).toBeUndefined();
    expect(await isRefused({ entityId: 8 })).toBe(false);
  });

  test('and is recorded in an event, so that it can be explained later (C9)', async () => {
    await refuse('entity', { jobId: 3 });
    const [event] = await database.db.selectFrom('installation_events').selectAll().execute();
    expect(event).toMatchObject({
      source: 'reconciler',
      outcome: 'auth_other_error',
      app_id: 1001,
      entity_id: 7,
      entity_name: 'mona',
      repo_id: 11,
    });
    expect(event?.payload).toMatchObject({
      http_status: 403,
      message: 'suspended',
      job_id: 3,
      entity: { id: 7, name: 'mona', type: 'User' },
    });
  });
});

describe('a refusal ends', () => {
  test.each(SUBJECTS)('of the %s with any call that succeeds (C9)', async (subject) => {
    await refuse(subject);
    await endRefusals(database.db, PLACE);
    expect(await isRefused()).toBe(false);
  });

  test('by itself, and a call that did not wait does not put that off (C9)', async () => {
    await refuse('entity');
    await setTimes({ since: '2 hours', left: '9 seconds' });
    expect(seconds(await refuse('entity'))).toBe(9);
    await setTimes({ since: '2 hours', left: '0' });
    expect(await isRefused()).toBe(false);
  });

  test.each(SUBJECTS)('of the %s with the App’s new key, and of no other App', async (subject) => {
    await refuse(subject);
    await endRefusalsOfApp(database.db, 1002);
    expect(await isRefused()).toBe(true);
    await endRefusalsOfApp(database.db, 1001);
    expect(await isRefused()).toBe(false);
  });
});

/** As if the refusals had begun so long ago, and ended in so much time. */
const setTimes = ({ since, left }: { since: string; left: string }) =>
  sql`update installations set refused_since = now() - ${since}::interval, refused_until = now() + ${left}::interval
    where refused_since is not null`.execute(database.db);
const seconds = (ms = 0): number => Math.round(ms / 1_000);

test.each([
  ['1 second', 60],
  ['8 minutes', 60],
  ['40 minutes', 300],
  ['8 hours', 3_600],
  ['3 days', 3_600],
])(
  'after %s of refusals, the next look comes at most an eighth later than it could',
  async (since, expected) => {
    expect(seconds(await refuse('entity'))).toBe(60);
    await setTimes({ since, left: '0' });
    expect(seconds(await refuse('entity'))).toBe(expected);
  },
);
