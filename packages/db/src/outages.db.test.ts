import { beforeEach, describe, expect, test } from '@jest/globals';
import { createMetrics } from '@paddock/runtime/metrics';
import type { Probe } from '@paddock/runtime/reach';
import { SILENT_LOG } from '@paddock/testing/stand-ins';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import pg from 'pg';
import { queueEventChannel } from './connection/schema-name.ts';
import { confirmOutages, createReaches, noteAway, noteBack, type Reaches } from './outages.ts';

const database = useTestDatabase();
beforeEach(() => database.db.deleteFrom('outages').execute());

const rows = () => database.db.selectFrom('outages').selectAll().orderBy('service').execute();
const services = async () => (await rows()).map(({ service }) => service);

/** A process with its own probes: why each of the two does not answer; undefined: it does. */
function startProcess(says: { github?: string; cluster?: string } = {}) {
  const metrics = createMetrics();
  let returns = 0;
  const probe =
    (service: 'github' | 'cluster'): Probe =>
    () =>
      Promise.resolve(says[service]);
  const reaches: Reaches = createReaches({
    db: database.dbOf('scheduler'),
    log: SILENT_LOG,
    metrics,
    probes: { github: probe('github'), cluster: probe('cluster') },
    onBack: () => void (returns += 1),
  });
  const gauge = async () =>
    /paddock_service_away\{service="github"\} (\d)/.exec(await metrics.registry.metrics())?.[1];
  return { says, reaches, returns: () => returns, gauge };
}

describe('outages (C11)', () => {
  test('a row keeps its first reason, and both its coming and its going wake the matcher', async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const told: unknown[] = [];
    client.on('notification', ({ payload }) => told.push(payload));
    await client.query(`listen ${queueEventChannel(database.schema)}`);
    await noteAway(database.db, 'github', 'no route');
    await noteAway(database.db, 'github', 'no answer');
    expect(await rows()).toEqual([
      { service: 'github', since: expect.any(Date), message: 'no route' },
    ]);
    await noteBack(database.db, 'github');
    await waitFor('two notifications', () => told.filter((one) => one === 'outages').length >= 2);
    await client.end();
  });

  test('a process writes the row of what its own probe misses, and deletes it with the first answer', async () => {
    const { says, reaches, returns, gauge } = startProcess({ github: 'no answer' });
    expect(await gauge()).toBe('0');
    expect(await reaches.github.report()).toBe(true);
    await waitFor('the row', async () => (await services()).includes('github'));
    expect([await gauge(), reaches.cluster.isAway()]).toEqual(['1', false]);
    delete says.github;
    expect(await reaches.github.report()).toBe(false);
    await waitFor('the row to go', async () => (await services()).length === 0);
    expect([await gauge(), returns()]).toEqual(['0', 1]);
  });

  test('one process that alone is cut off holds back none: another deletes its row, and it writes no second one', async () => {
    const cutOff = startProcess({ github: 'no route' });
    const other = startProcess();
    await cutOff.reaches.github.report();
    await waitFor('the row', async () => (await services()).includes('github'));
    await confirmOutages(database.db, other.reaches, await services());
    expect(await services()).toEqual([]);
    await cutOff.reaches.github.report();
    await cutOff.reaches.github.report();
    expect([await services(), cutOff.reaches.github.isAway()]).toEqual([[], true]);
  });
});
