import { beforeEach, describe, expect, test } from '@jest/globals';
import { BREAKER_RULES } from '@paddock/testing/breaker-rules';
import { emptyTables } from '@paddock/testing/empty-tables';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { installationBreaker, registrationBreakers } from './breaker-subjects.ts';
import { noteFailure } from './note-failure.ts';
import { noteSuccess, passBreakers } from './breakers.ts';
import { findWorkerToStop } from '../workers/stopping-workers.ts';
import { endRefusals, recordRefusal } from './refusals.ts';

const database = useTestDatabase();
beforeEach(async () => {
  await emptyTables(database.db, ['breakers', 'installation_events', 'installations', 'workers']);
});

const APPS = [1001, 1002];
const PLACE = {
  appId: 1001,
  installationId: 5,
  entityId: 7,
  entityType: 'User',
  login: 'mona',
  repoId: 11,
} as const;
const CALLS = {
  app: {
    kind: 'unauthorized',
    operation: 'POST /app/installations/5/access_tokens',
    status: 401,
    message: 'wrong key',
  },
  entity: {
    kind: 'forbidden',
    operation: 'POST /app/installations/5/access_tokens',
    status: 403,
    message: 'suspended',
  },
  repository: {
    kind: 'forbidden',
    operation: 'GET /repos/mona/tool/actions/runners',
    status: 403,
    message: 'not accessible',
  },
} as const;
type Subject = keyof typeof CALLS;

const refuse = (
  subject: Subject,
  place: Partial<Parameters<typeof recordRefusal>[2]['call']> = {},
) =>
  recordRefusal({ db: database.db, breakerRules: BREAKER_RULES }, 'reconciler', {
    call: { ...PLACE, ...place },
    refusal: CALLS[subject],
  });

/** Whether GitHub may be asked about a worker of this App, entity and repository. */
async function isRefused({ appId = 1001, entityId = 7, repoId = 11 } = {}): Promise<
  boolean | undefined
> {
  const { pod_name: podName } = await putWorker(database.db, {
    app_id: appId,
    entity_id: entityId,
    scope_repo_id: repoId,
  });
  return (await findWorkerToStop(database.db, podName, APPS))?.isRefused;
}

const pausedMinutes = async () => {
  const { rows } = await sql<{ minutes: number }>`
    select round(extract(epoch from paused_until - now()) / 60)::integer as minutes from breakers order by minutes`.execute(
    database.db,
  );
  return rows.map(({ minutes }) => minutes);
};

describe('a refusal of GitHub’s belongs to the thing that it names', () => {
  test.each([
    ['repository', { same: true, otherRepository: false, otherEntity: false, otherApp: false }],
    ['entity', { same: true, otherRepository: true, otherEntity: false, otherApp: false }],
    ['app', { same: true, otherRepository: true, otherEntity: true, otherApp: false }],
  ] as const)('of the %s: others go on (C9)', async (subject, expected) => {
    await refuse(subject);
    expect({
      same: await isRefused(),
      otherRepository: await isRefused({ repoId: 12 }),
      otherEntity: await isRefused({ entityId: 8, repoId: 13 }),
      otherApp: await isRefused({ appId: 1002, entityId: 8, repoId: 13 }),
    }).toEqual(expected);
  });

  test('of a repository with only a known name: it is recorded, and no task waits for it', async () => {
    await refuse('repository', { repoId: 0 });
    expect(await isRefused({ repoId: 0 })).toBe(false);
    expect(await database.db.selectFrom('installation_events').select('event').execute()).toEqual([
      { event: 'auth_attempt.other_error' },
    ]);
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
  test.each(['app', 'entity', 'repository'] as const)(
    'of the %s with any call that succeeds (C9)',
    async (subject) => {
      await refuse(subject);
      await endRefusals(database.db, PLACE);
      expect(await isRefused()).toBe(false);
    },
  );

  test('with a registration that succeeds, and with it all else that failed there (C9, C11)', async () => {
    for (const subject of ['app', 'entity', 'repository'] as const) await refuse(subject);
    await noteSuccess(database.db, registrationBreakers({ ...PLACE, scopeRepoId: 11 }));
    expect(await database.db.selectFrom('breakers').selectAll().execute()).toEqual([]);
  });

  test('with another repository’s answer, unless it is a refusal of one repository', async () => {
    await refuse('entity');
    await refuse('repository');
    await endRefusals(database.db, { ...PLACE, repoId: 12 });
    expect(await isRefused({ repoId: 12 })).toBe(false);
    expect(await isRefused()).toBe(true);
  });

  test('with a change of the entity’s installations (A12)', async () => {
    const installation = {
      app_id: 1001,
      installation_id: 5,
      login: 'mona',
      entity_type: 'User' as const,
      stated_at: new Date(),
    };
    const putInstallation = (changedMinutesAgo: number) =>
      database.db
        .insertInto('installations')
        .values({ ...installation, entity_id: 7, updated_at: minutesAgo(changedMinutesAgo) })
        .onConflict((conflict) =>
          conflict
            .columns(['entity_id', 'app_id'])
            .doUpdateSet({ updated_at: sql`clock_timestamp()` }),
        )
        .execute();
    await putInstallation(1);
    await refuse('repository');
    expect(await isRefused()).toBe(true);
    await putInstallation(0);
    expect(await isRefused()).toBe(false);
  });

  test('by itself, and trying again meanwhile does not put that off (C9)', async () => {
    await refuse('entity');
    await database.db
      .updateTable('breakers')
      .set({ paused_until: sql`now() + interval '9 minutes'` })
      .execute();
    await refuse('entity');
    expect(await pausedMinutes()).toEqual([9]);
    await database.db
      .updateTable('breakers')
      .set({ paused_until: sql`now()` })
      .execute();
    expect(await isRefused()).toBe(false);
    await refuse('entity');
    expect(await pausedMinutes()).toEqual([60]);
  });

  test('within a minute if it is the App’s: a right key may be refused for a moment', async () => {
    await refuse('app');
    expect(await pausedMinutes()).toEqual([1]);
  });

  test('and is forgotten a day later', async () => {
    await refuse('repository');
    await database.db
      .updateTable('breakers')
      .set({ paused_until: minutesAgo(1_441) })
      .execute();
    await refuse('entity');
    expect(await database.db.selectFrom('breakers').select('subject_type').execute()).toEqual([
      { subject_type: 'installation' },
    ]);
  });
});

describe('a refusal opens no breaker', () => {
  test('and keeps no trial of one from being made (C11)', async () => {
    for (let n = 0; n < 3; n += 1) await refuse('entity');
    const subject = installationBreaker(7);
    expect(await passBreakers(database.db, [subject])).toMatchObject({
      waitMs: 0,
      isWatched: true,
    });
    const noting = { db: database.db, breakerRules: BREAKER_RULES };
    for (let n = 0; n < 3; n += 1)
      await noteFailure(noting, { subject, failureClass: 'forbidden', message: 'no' });
    await database.db
      .updateTable('breakers')
      .set({ paused_until: minutesAgo(1) })
      .where('failure_class', '=', 'forbidden')
      .execute();
    expect(await passBreakers(database.db, [subject])).toMatchObject({
      waitMs: 0,
      trial: expect.any(String),
    });
  });
});
