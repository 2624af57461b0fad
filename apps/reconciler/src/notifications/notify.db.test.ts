import type { RequestListener, ServerResponse } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { sweepTask } from '@paddock/queue/sweep-schedules';
import { listenHttp } from '@paddock/runtime/http-server';
import { saveAppIds } from '@paddock/db/instance';
import { putInstallation, putPools } from '@paddock/testing/demand-rows';
import { useFolder } from '@paddock/testing/use-folder';
import { emptyAll, emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { noteEvents, usualContext } from '../scenes/sweep.scene.ts';
import { sweepKinds } from '../sweeps.ts';
import { createWebhook } from './notify.ts';

interface Message {
  readonly text: string;
  readonly causes: readonly { state: string; name: string; subject: string }[];
  readonly more: number;
}

const database = useTestDatabase();
const file = join(useFolder(), 'paddock.yaml');
const heard: Message[] = [];
let answer: (response: ServerResponse) => void;
const well = (response: ServerResponse) => response.writeHead(200).end('ok');
const receive: RequestListener = (request, response) => {
  let body = '';
  request.on('data', (part) => (body += String(part)));
  request.on('end', () => {
    heard.push(JSON.parse(body) as Message);
    answer(response);
  });
};
let http: Awaited<ReturnType<typeof listenHttp>>;
let url: string;
const SECRET = 'T0/B0/never-shown';

beforeAll(async () => {
  http = await listenHttp(receive, { port: 0, host: '127.0.0.1' });
  url = `http://127.0.0.1:${http.port}/${SECRET}`;
});
afterAll(() => http.close());
beforeEach(async () => {
  const { db } = database;
  await emptyAll(db);
  await emptyTables(db, ['outages', 'runner_groups']);
  const row = { name: 'recover-tasks', last_tick_at: new Date() };
  await db.insertInto('schedules').values(row).execute();
  const seen = new Date();
  const lives = { ingress_seen_at: seen, scheduler_seen_at: seen, reconciler_seen_at: seen };
  await db.updateTable('instance').set(lives).execute();
  writeFileSync(file, JSON.stringify({ notifications: { webhook: { env: 'HOOK' } } }));
  heard.length = 0;
  answer = well;
});

const webhookAt = (address: string) => createWebhook(file, { HOOK: address });

/** A pass of the sweep, by a process of its own. */
async function pass(address = url, webhook = webhookAt(address)) {
  const db = database.dbOf('reconciler');
  const { events, told } = noteEvents();
  await enqueueAlone(db, [sweepTask('recover-tasks')]);
  await runDueTasks({ db, kinds: sweepKinds({ ...usualContext(db), events, webhook }) });
  expect(JSON.stringify(told('notificationRefused'))).not.toContain(SECRET);
  return told('notificationRefused').flat();
}

const subjects = () =>
  heard.map(({ causes }) =>
    causes.map(({ state, name, subject }) => `${state} ${name} ${subject}`),
  );

const failPool = (pool: string, key: number, minutes = 9, message = 'no image') =>
  sql`insert into demand_keys (demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, waiting, unassigned, failures, pauses, failure_class, failure_message, failing_since)
    values (${key}, 1, 'acme', 0, ${pool}, 0, 0, 3, 1, 'image_pull', ${message}, now() - ${minutes} * interval '1 minute')`.execute(
    database.db,
  );
const mend = (pool: string) =>
  database.db.deleteFrom('demand_keys').where('k8s_pool', '=', pool).execute();

describe('what people must act on', () => {
  test('is posted when it begins and when it is over, once, by any process', async () => {
    await failPool('gpu', 1);
    await failPool('gpu', 2);
    await failPool('young', 3, 1);
    for (let time = 0; time < 3; time++) await pass();
    expect(subjects()).toEqual([['began workers_failing gpu']]);
    expect(heard[0]).toMatchObject({
      text: expect.stringMatching(
        /^Paddock [a-z0-9]{6}:\n• Workers in gpu fail before they have a job: no image\. Look at the pool’s image/,
      ),
      causes: [{ since: expect.stringMatching(/^20/), sentence: expect.anything() }],
      more: 0,
    });
    await mend('young');
    await failPool('young', 3);
    await mend('gpu');
    for (let time = 0; time < 2; time++) await pass();
    expect(subjects()[1]).toEqual(['began workers_failing young', 'over workers_failing gpu']);
    expect(heard[1]?.text).toContain('• Over: Workers in gpu fail before they have a job.');
    expect(heard).toHaveLength(2);
  });

  test.each<[string, (response: ServerResponse) => void, string]>([
    ['answers 500', (response) => response.writeHead(500).end('no'), 'the webhook answered 500'],
    [
      'leads elsewhere',
      (response) => response.writeHead(302, { location: url }).end(),
      'the webhook answered 302',
    ],
    [
      'breaks off',
      (response) => response.destroy(),
      'the webhook cannot be reached (UND_ERR_SOCKET)',
    ],
    [
      'answers garbage',
      (response) => response.socket?.end('\0\0 no HTTP\r\n\r\n'),
      'the webhook cannot be reached',
    ],
    ['hangs', () => undefined, 'the webhook gave no answer for 5 s'],
  ])(
    'is posted again by the next pass if the webhook %s, and stops nothing else',
    async (_how, fault, why) => {
      await failPool('gpu', 1);
      answer = fault;
      // Some versions of Node.js also name the garbage.
      const problem = expect.stringContaining(why);
      expect(await pass()).toEqual([problem]);
      const { output, status } = await database.db
        .selectFrom('operations')
        .select(['output', 'status'])
        .executeTakeFirstOrThrow();
      expect([status, output]).toEqual([
        'OK',
        expect.objectContaining({ notifications: { problem } }),
      ]);
      answer = well;
      expect(await pass()).toEqual([]);
      await pass();
      expect(subjects()).toEqual([['began workers_failing gpu'], ['began workers_failing gpu']]);
    },
  );

  test('is of every cause, in one message of bounded size, without the power of its words', async () => {
    const { db } = database;
    const later = sql<Date>`now() - interval '1 hour'`;
    for (let key = 1; key <= 30; key++)
      await failPool(`pool-${key}`, key, 60, `<!channel> ${'x'.repeat(key)}${'🚀'.repeat(1_000)}`);
    await pass();
    expect(heard[0]).toMatchObject({ more: 10, causes: { length: 20 } });
    expect(heard[0]?.text).toMatch(/\nAnd 10 more: see `paddock troubles`\.$/);
    expect(heard[0]?.text).toContain('&lt;!channel&gt;');
    expect(heard[0]?.text).not.toMatch(/[<>]|\p{Cs}/u);
    expect(JSON.stringify(heard[0]).length).toBeLessThan(40_000);
    await db.deleteFrom('demand_keys').execute();
    await pass();
    expect(heard[1]).toMatchObject({ more: 10 });

    await sql`insert into installations (entity_id, app_id, installation_id, login, entity_type, repository_selection, stated_at, refused_since, refused_until, refused_reason, refused_message)
      values (1, 7, 1, 'acme', 'Organization', 'all', now(), ${later}, now(), 'installation_refused', 'No.')`.execute(
      db,
    );
    const pools = [{ name: 'old', labels: ['old'] }];
    await db
      .insertInto('pools_documents')
      .values({ digest: 'd', content: JSON.stringify({ pools, entities: {} }) })
      .execute();
    await sql`insert into pool_runner_versions (k8s_pool, version, pod_name, ends_at) values ('old', '2.1.0', 'p', ${later}), ('gone', '2.1.0', 'p', ${later})`.execute(
      db,
    );
    await sql`insert into outages (service, since, message) values ('cluster', ${later}, 'timed out'), ('github', ${later}, 'timed out')`.execute(
      db,
    );
    await sql`insert into demand_keys (demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, waiting, unassigned, wait_reason, wait_since)
      values (1, 1, 'acme', 0, 'linux', 1, 0, 'at_pool_cap', ${later}), (2, 2, 'globex', 0, 'linux', 1, 0, 'app_not_configured', ${later}), (3, 2, 'globex', 0, 'lost', 2, 0, 'pool_unknown', ${later})`.execute(
      db,
    );
    await sql`update instance set scheduler_seen_at = ${later}`.execute(db);
    await pass();
    expect(subjects()[2]?.toSorted()).toEqual([
      'began app_not_configured globex',
      'began cluster_unavailable cluster',
      'began installation_refused acme',
      'began pool_unknown lost',
      'began runner_outdated old',
      'began service_silent scheduler',
    ]);
    expect(heard[2]?.text).toContain(
      '• GitHub no longer serves the runner version of old: 2.1.0. Give the pool a newer runner image.',
    );
    expect(heard[2]?.text).toContain(
      '• Jobs wait for lost: the pool is no longer in the configuration.',
    );
  });

  test('is over with what it was about: an App or a pool that is no longer configured, an installation that is gone', async () => {
    const { db } = database;
    await saveAppIds(db, [7, 8]);
    const put = (names: readonly string[]) =>
      putPools(db, { pools: names.map((name) => ({ name, labels: [name] })) });
    await put(['linux', 'old']);
    await putInstallation(db, { entity_id: 1, app_id: 7 });
    await putInstallation(db, { entity_id: 2, app_id: 7 });
    await sql`with refused as (insert into apps (app_id, refused_since, refused_reason) values (8, 'epoch', 'installation_refused'))
      insert into runner_groups (demand_key, entity_id, k8s_pool, name, excess, paused_until, read_at)
      values (1, 1, 'old', 'open', 'all', now(), 'epoch'), (2, 2, 'linux', 'open', 'all', now(), 'epoch')`.execute(
      db,
    );
    await pass();
    await saveAppIds(db, [7]);
    await put(['linux']);
    await db
      .updateTable('installations')
      .set({ deleted_at: new Date() })
      .where('entity_id', '=', 2)
      .execute();
    await pass();
    const about = [
      'installation_refused the App 8',
      'runner_group_open linux',
      'runner_group_open old',
    ];
    expect(subjects().map((some) => some.toSorted())).toEqual(
      ['began', 'over'].map((state) => about.map((what) => `${state} ${what}`)),
    );
  });

  test('is not posted without a webhook, and is once there is one', async () => {
    await failPool('gpu', 1);
    await pass();
    writeFileSync(file, '{}');
    expect(await pass()).toEqual([]);
    expect(heard).toHaveLength(1);
    writeFileSync(file, JSON.stringify({ notifications: { webhook: { file: 'nowhere' } } }));
    expect(await pass()).toEqual([expect.stringContaining('cannot be read from the file nowhere')]);
    writeFileSync(file, JSON.stringify({ notifications: { webhook: { env: 'HOOK' } } }));
    expect(await pass(SECRET)).toEqual([
      'The webhook of notifications is no address such as https://…',
    ]);
    await pass();
    expect(heard).toHaveLength(2);
  });

  test('is posted while the file cannot be read, where it was before, and nothing is wanted where it was nowhere', async () => {
    const [told, untold] = [webhookAt(url), webhookAt(url)];
    await pass(url, told);
    writeFileSync(file, '{}');
    await pass(url, untold);
    writeFileSync(file, '{"notifications":');
    await failPool('gpu', 1);
    expect(await pass(url, untold)).toEqual([]);
    expect(heard).toEqual([]);
    expect(await pass(url, told)).toEqual([]);
    expect(subjects()).toEqual([['began workers_failing gpu']]);
    expect(await pass()).toEqual([expect.stringContaining('Flow map')]);
  });
});
