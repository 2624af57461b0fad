import { beforeAll, describe, expect, test } from '@jest/globals';
import { rememberLostDeliveries } from '@paddock/db/deliveries/redelivery';
import { putJob, putPools, putWorker } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { findDeliveryEndpoint } from '../deliveries/deliveries.ts';
import { ask } from '../scenes/ask.scene.ts';
import { findEndpoint } from './find.ts';

const database = useTestDatabase();
const find = (delivery: string) => ask(findDeliveryEndpoint, database.db, { delivery });
const STORED = '0b989ba4-242f-11e5-81e1-c7b6966d2516';
const MISSING = '1b989ba4-242f-11e5-81e1-c7b6966d2516';

beforeAll(async () => {
  const { db } = database;
  await sql`insert into installations (entity_id, app_id, installation_id, login, entity_type, stated_at)
    values (1, 7, 70, 'Oldcme', 'Organization', now())`.execute(db);
  await sql`update installations set login = 'Acme'`.execute(db);
  await putPools(db, { pools: [{ name: 'linux', labels: ['linux'] }] });
  await putJob(db, {
    job_id: 345,
    run_id: 9345,
    job_name: 'build',
    repo_id: 5,
    repo_full_name: 'acme/api',
  });
  await putJob(db, { job_id: 70, job_name: 'null', repo_full_name: 'acme/web' });
  await putWorker(db, { pod_name: 'pdk-1-linux-0001', k8s_node: 'ip-10-0-1-2.internal' });
  await sql`insert into installation_events (source, event, outcome, app_id, entity_id, installation_id, job_id, delivery_guid, payload)
    values ('webhook', 'workflow_job.queued', 'ignored_no_label', 7, 1, 71, 500, ${STORED}, '{}')`.execute(
    db,
  );
  await rememberLostDeliveries(
    db,
    7,
    [
      {
        guid: MISSING,
        deliveryId: '9',
        event: 'workflow_job',
        action: 'queued',
        installationId: 70,
        repositoryId: 5,
        firstFailedAt: new Date(),
        lastFailedAt: new Date(),
        lastStatusCode: 502,
        isDelivered: false,
      },
    ],
    { isAsked: false },
  );
});

test.each([
  ['345', 'job 345 build'],
  ['9345', 'run 9345 acme'],
  ['70', 'job 70 null,installation 70 Acme'],
  ['https://github.com/acme/api/actions/runs/9/job/345?pr=1', 'job 345 null'],
  ['https://github.com/Acme/API/pulls', 'repository 5 Acme/API'],
  ['github.com/Acme/API', 'repository 5 Acme/API'],
  [' acme/api ', 'repository 5 acme/api'],
  ['ACME', 'entity 1 Acme'],
  ['oldcme', 'entity 1 Oldcme'],
  ['linux', 'pool linux null'],
  ['pdk-1-linux-0001', 'worker pdk-1-linux-0001 null'],
  [STORED.toUpperCase(), `delivery ${STORED} workflow_job.queued`],
  [MISSING, `delivery ${MISSING} workflow_job.queued`],
  ['pdk-1-l', 'worker pdk-1-linux-0001 null'],
  ['IP-10-0-1-2.internal', 'node ip-10-0-1-2.internal null'],
  ['ip-10', 'node ip-10-0-1-2.internal null'],
  ['acme/none', ''],
  ['../<img>', ''],
  ['', ''],
])('one box for all ids: "%s" is %s (P5)', async (text, said) => {
  const { items } = await ask(findEndpoint, database.db, { text });
  expect(items.map(({ kind, id, name }) => `${kind} ${id} ${name}`).join()).toBe(said);
});

describe('one delivery', () => {
  test('has what became of it each time', async () => {
    expect(await find(STORED)).toMatchObject({
      delivery: STORED,
      events: [{ guid: STORED, job: 500, meaning: 'no pool has all of the job’s labels' }],
      unresolved: [],
    });
  });

  test('that never arrived says since when Paddock asks for it', async () => {
    expect(await find(MISSING)).toMatchObject({
      events: [],
      unresolved: [{ app: 7, guid: MISSING, lastStatusCode: 502, requests: 0 }],
    });
    await expect(find('2b989ba4-242f-11e5-81e1-c7b6966d2516')).rejects.toMatchObject({
      status: 404,
    });
  });
});
