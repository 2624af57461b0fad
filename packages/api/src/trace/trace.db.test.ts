import { beforeAll, describe, expect, test } from '@jest/globals';
import { putJob, putWorker } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { ask, askAll } from '../scenes/ask.scene.ts';
import { record } from '../actions/list-actions.ts';
import { traceEventEndpoint } from '../events/events.ts';
import { traceEndpoint } from './trace.ts';

const database = useTestDatabase();
const trace = (entity: string | number, input: Readonly<Record<string, unknown>> = {}) =>
  ask(traceEndpoint, database.db, { of: 'entity', id: String(entity), ...input });
const traceOfInstallation = (installation: number) =>
  ask(traceEndpoint, database.db, { of: 'installation', id: String(installation), limit: 100 });
const traceOfJob = (input: Readonly<Record<string, unknown>>) =>
  ask(traceEndpoint, database.db, { of: 'job', limit: 100, ...input });
const payloadOf = (event: string) => ask(traceEventEndpoint, database.db, { event });

const START = Date.parse('2026-01-31T00:00:00Z');
/** Three things of each minute, and all kinds of one instant now and then. */
const minute = (n: number) => new Date(START + n * 60_000);

const ACME = { entity_id: 1, entity_name: 'acme' };
const TIMES = 12;

beforeAll(async () => {
  const { db } = database;
  await sql`insert into installations (entity_id, app_id, installation_id, login, entity_type, stated_at)
    values (1, 7, 70, 'acme-old', 'Organization', now()), (2, 7, 71, 'other', 'Organization', now())`.execute(
    db,
  );
  await sql`update installations set login = 'Acme' where entity_id = 1`.execute(db);
  for (let n = 0; n < TIMES; n += 1) {
    const created_at = minute(n);
    await putJob(db, { ...ACME, job_id: 100 + n, created_at, k8s_pod: `w-${n}`, repo_id: 5 });
    await putWorker(db, { ...ACME, pod_name: `w-${n}`, created_at, assigned_job_id: 100 + n });
    await sql`insert into installation_events (source, event, outcome, app_id, installation_id, entity_id, entity_name, repo_id, job_id, payload, received_at)
      values ('webhook', 'workflow_job.queued', 'job_stored', 7, 70, 1, 'acme', 5, ${100 + n}, ${JSON.stringify({ n })}, ${created_at})`.execute(
      db,
    );
    await sql`insert into operations (id, kind, subject_type, subject_id, payload, origin, status, attempt, max_attempts, crashes, failures, queued_at, expires_at)
      values (gen_random_uuid(), 'provision-worker', 'worker', ${`w-${n}`}, '{}', 'AUTOMATIC', 'OK', 1, 5, 0, '[]', ${created_at}, now() + interval '1 day')`.execute(
      db,
    );
  }
  await sql`insert into tasks (kind, subject_type, subject_id, max_attempts, queued_at)
    values ('discover-jobs', 'repository', 'ACME/app', 5, ${minute(3)}), ('discover-jobs', 'repository', 'other/app', 5, ${minute(3)})`.execute(
    db,
  );
  await db.transaction().execute(async (trx) => {
    const caller = { db, person: 'ada', from: 'api' as const };
    for (const [endpoint, subject] of [
      ['turnSwitch', { subject: 'entity:1' }],
      ['turnSwitch', { subject: 'pool:linux' }],
      ['stopWorker', { worker: 'w-3' }],
      ['resync', { repository: 'acme/app' }],
      ['resync', { repository: 'other/app' }],
    ] as const)
      await record(trx, caller, { endpoint, subject, note: undefined });
  });
  await sql`update actions set acted_at = ${minute(3)}`.execute(db);
  await sql`insert into repositories (repo_id, entity_id, app_id, full_name, active_at) values (5, 1, 7, 'acme/app', now())`.execute(
    db,
  );
  // Of the App, of its installation, and of others.
  await sql`insert into installation_events (source, event, outcome, app_id, installation_id, payload, received_at)
    values ('reconciler', 'auth_attempt.other_error', 'auth_other_error', 7, null, '{}', ${minute(3)}),
      ('reconciler', 'workflow_job.queued', 'redelivery_given_up', 7, 70, '{}', ${minute(4)}),
      ('reconciler', 'workflow_job.queued', 'redelivery_given_up', 7, 71, '{}', ${minute(4)}),
      ('reconciler', 'auth_attempt.404', 'auth_404', 8, null, '{}', ${minute(5)}),
      ('reconciler', 'auth_attempt.404', 'auth_404', 8, 88, '{}', ${minute(5)})`.execute(db);
});

type Trace = Awaited<ReturnType<typeof trace>>;
const kindsOf = ({ items }: Pick<Trace, 'items'>) =>
  Object.fromEntries(
    ['worker', 'operation', 'job', 'event', 'action'].map((kind) => [
      kind,
      items.filter((item) => item.kind === kind).length,
    ]),
  );
const ALL = { worker: TIMES, operation: TIMES + 1, job: TIMES, event: TIMES + 2, action: 3 };

describe('the trace of an entity (G2)', () => {
  let all: Trace;
  beforeAll(async () => {
    all = await trace('acme', { limit: 100 });
  });

  test('has all that happened to it, the newest first, each once, and nothing of others', async () => {
    expect(kindsOf(all)).toEqual(ALL);
    expect(all.next).toBeNull();
    const paged = { of: 'entity', id: 'acme', limit: '2' };
    expect(await askAll(traceEndpoint, database.db, paged)).toEqual(all.items);
    const instants = all.items.map(({ at }) => at);
    expect(instants).toEqual(instants.toSorted().toReversed());
  });

  test('is found by login, former login and id, and says the logins', async () => {
    expect(all.entity).toEqual({ id: 1, login: 'Acme', formerly: ['acme-old'] });
    for (const name of ['ACME', 'Acme-Old', 1])
      expect(await trace(name, { limit: 100 })).toEqual(all);
    await expect(trace('nobody')).rejects.toMatchObject({ status: 404 });
    await expect(trace(999)).rejects.toMatchObject({ status: 404 });
  });

  test('has the job and the repository of a delivery', () => {
    expect(all.items.find(({ kind }) => kind === 'event')).toMatchObject({
      what: 'workflow_job.queued: a new row in jobs',
      event: { job: 111, repository: { id: 5, fullName: 'acme/app' }, installation: 70 },
    });
  });
});

test('the trace of an installation is that of its entity (G2)', async () => {
  expect(await traceOfInstallation(70)).toEqual(await trace('acme', { limit: 100 }));
  await expect(traceOfInstallation(999)).rejects.toMatchObject({ status: 404 });
});

describe('the trace of a job (G2)', () => {
  test('is that of its entity', async () => {
    expect(await traceOfJob({ id: '103' })).toEqual(await trace('acme', { limit: 100 }));
    await expect(traceOfJob({ id: '999' })).rejects.toMatchObject({ status: 404 });
  });

  test('without a row is found by its deliveries', async () => {
    await sql`insert into installation_events (source, event, outcome, app_id, entity_id, job_id, payload)
      values ('webhook', 'workflow_job.queued', 'ignored_no_label', 7, 2, 500, '{}')`.execute(
      database.db,
    );
    const { entity, items } = await traceOfJob({ id: '500' });
    expect(entity).toMatchObject({ id: 2, login: 'other' });
    expect(items[0]).toMatchObject({ event: { job: 500, outcome: 'ignored_no_label' } });
  });
});

test('the payload of an event is what its row has (G2)', async () => {
  const { items } = await trace('acme', { kind: 'event', limit: 1 });
  const [item] = items;
  if (item?.kind !== 'event') throw new Error('no event');
  expect(await payloadOf(item.event.id)).toEqual({
    event: item.event,
    size: '{"n": 11}'.length,
    payload: { n: 11 },
  });
  await expect(payloadOf('999999999')).rejects.toMatchObject({ status: 404 });
});
