import { beforeEach, describe, expect, test } from '@jest/globals';
import { emptyAll, useTestDatabase } from '@paddock/testing/use-test-database';
import {
  minutesAgo,
  putInstallation,
  putJob,
  putPools,
  putWorker,
} from '@paddock/testing/demand-rows';
import { type Insertable, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { saveAppIds } from '../instance.ts';
import { readSharedState, type SharedGauge } from './shared-gauges.ts';

describe('gauges of rows that all services share (H5)', () => {
  const database = useTestDatabase();
  const db = () => database.db;

  beforeEach(async () => {
    await emptyAll(db());
    const pools = [{}, { name: 'gpu', labels: ['gpu'] }];
    await putPools(db(), { pools, entities: { Acme: {}, '*': {} } });
  });

  /** The values of a gauge, by the values of its labels. */
  const read = async (gauge: SharedGauge, as = db()): Promise<Record<string, number>> => {
    const samples = (await readSharedState(as)).filter((sample) => sample.gauge === gauge);
    return Object.fromEntries(
      samples.map(({ labels, value }) => [Object.values(labels).join(), value]),
    );
  };
  const putKey = (demandKey: number, more: Partial<Insertable<Database['demand_keys']>>) =>
    db()
      .insertInto('demand_keys')
      .values({
        demand_key: demandKey,
        entity_id: demandKey,
        entity_name: 'acme',
        scope_repo_id: 0,
        k8s_pool: 'linux',
        waiting: 0,
        unassigned: 0,
        ...more,
      })
      .execute();

  test('waiting jobs, with reasons and lacks; a pool without any has 0', async () => {
    const held = await putJob(db());
    await putJob(db());
    await putJob(db(), { entity_id: 5, entity_name: 'globex', installation_id: 55 });
    await putJob(db(), { wants_worker: false, status: 'running' });
    await putKey(held.demand_key, { wait_reason: 'at_pool_cap', waiting: 2, unassigned: 1 });
    expect(await read('paddock_jobs_waiting')).toEqual({
      'gpu,none': 0,
      'linux,none': 1,
      'linux,at_pool_cap': 2,
    });
    expect(await read('paddock_workers_lacking')).toEqual({ gpu: 0, linux: 1 });
  });

  test('the longest waiting job of a pool and a reason, and whether there is an idle worker that could take it', async () => {
    const held = await putJob(db());
    const globex = { entity_id: 5, entity_name: 'globex' };
    await putJob(db(), globex);
    await sql`update jobs set created_at = now() - interval '10 minutes' where entity_id = 5`.execute(
      db(),
    );
    // Of the entity whose job is not the longest waiting one.
    const idle = { status: 'running', registered_at: minutesAgo(2) } as const;
    await putWorker(db(), idle);
    expect(await read('paddock_oldest_waiting_job_seconds')).toEqual({
      'gpu,none': 0,
      'linux,none': expect.closeTo(600, -1),
    });
    await putKey(held.demand_key, { wait_reason: 'at_pool_cap', waiting: 1 });
    expect(await read('paddock_oldest_waiting_job_seconds')).toEqual({
      'gpu,none': 0,
      'linux,at_pool_cap': expect.closeTo(0, -1),
      'linux,none': expect.closeTo(600, -1),
    });
    expect(await read('paddock_oldest_waiting_job_has_idle_worker')).toEqual({ gpu: 0, linux: 0 });
    await putWorker(db(), { ...idle, ...globex, stopping_at: minutesAgo(1) });
    expect(await read('paddock_oldest_waiting_job_has_idle_worker')).toEqual({ gpu: 0, linux: 0 });
    await putWorker(db(), { ...idle, ...globex });
    expect(await read('paddock_oldest_waiting_job_has_idle_worker')).toEqual({ gpu: 0, linux: 1 });
  });

  test('keys that were paused since their last success, by pool and failure', async () => {
    for (const [id, [pool, pauses, failure]] of (
      [
        ['gpu', 1, 'exit_code'],
        ['linux', 0, 'exit_code'],
        ['linux', 1, 'exit_code'],
        ['linux', 2, 'exit_code'],
        ['linux', 1, 'image_pull'],
      ] as const
    ).entries())
      await putKey(id, { k8s_pool: pool, pauses, failures: 1, failure_class: failure });
    expect(await read('paddock_keys_failing')).toEqual({
      'gpu,exit_code': 1,
      'linux,exit_code': 2,
      'linux,image_pull': 1,
    });
  });

  test('what GitHub refuses, but for Apps that are no longer configured and installations that are gone', async () => {
    await sql`insert into apps (app_id, refused_since) values (7, now()), (8, now()), (9, null)`.execute(
      db(),
    );
    for (const [entity_id, app_id, deleted_at] of [
      [1, 7, null],
      [2, 7, minutesAgo(1)],
      [1, 8, null],
    ] as const)
      await putInstallation(db(), { entity_id, app_id, deleted_at, refused_since: minutesAgo(1) });
    await sql`insert into repositories (repo_id, entity_id, app_id, active_at, refused_since) values (1, 1, 7, now(), now()), (2, 1, 8, now(), now())`.execute(
      db(),
    );
    expect(await read('paddock_refused')).toEqual({ app: 2, installation: 2, repository: 2 });
    await saveAppIds(db(), [7, 9]);
    for (const service of ['ingress', 'scheduler', 'reconciler'] as const)
      expect(await read('paddock_refused', database.dbOf(service))).toEqual({
        app: 1,
        installation: 1,
        repository: 1,
      });
  });

  test('the rest of the registrations, by entity of the configuration; budgets of past hours do not count', async () => {
    const later = minutesAgo(-30);
    for (const [index, [login, left, reset]] of (
      [
        ['acme', 40, later],
        ['globex', 30, later],
        ['initech', 20, later],
        ['hooli', 10, minutesAgo(1)],
      ] as const
    ).entries())
      await putInstallation(db(), {
        entity_id: index + 1,
        login,
        installation_id: index,
        registrations_left: left,
        registrations_reset_at: reset,
      });
    expect(await read('paddock_registration_budget_remaining')).toEqual({ acme: 40, '*': 20 });
    const entities = { acme: {}, 'id:1': {}, 'id:3': {} };
    await putPools(db(), { pools: [], entities });
    expect(await read('paddock_registration_budget_remaining')).toEqual({
      'id:1': 40,
      '*': 30,
      'id:3': 20,
    });
  });
});
