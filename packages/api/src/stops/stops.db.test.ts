import { beforeEach, describe, expect, test } from '@jest/globals';
import { examplePools, putInstallation, putPools } from '@paddock/testing/demand-rows';
import { emptyTables } from '@paddock/testing/empty-tables';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import type { z } from 'zod';
import { listActionsEndpoint } from '../actions/list-actions.ts';
import type { Endpoint } from '../endpoint.ts';
import { ask, askAll } from '../scenes/ask.scene.ts';
import { listStopsEndpoint } from './list-stops.ts';
import { pauseSweepEndpoint } from './pause-sweep.ts';
import { resumeMakingEndpoint } from './resume-making.ts';
import type { stopState } from './stop.ts';
import { stopMakingEndpoint } from './stop-making.ts';
import { unpauseSweepEndpoint } from './unpause-sweep.ts';

const database = useTestDatabase();
beforeEach(async () => {
  await emptyTables(database.db, ['stopped_making', 'paused_sweeps', 'actions', 'installations']);
  await putPools(database.db, examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }));
  await putInstallation(database.db);
});

const list = () => askAll(listStopsEndpoint, database.db, { limit: '1' });
const actions = async () => (await ask(listActionsEndpoint, database.db)).items;

type Turn = Endpoint<z.ZodObject, typeof stopState>;

interface Switch {
  readonly off: Turn;
  readonly on: Turn;
  readonly asked: string;
  readonly subject?: string;
  readonly name?: string | null;
}

/** Each switch: how it is turned off and on, and the row that it then has in the list. */
const SWITCHES = [
  { off: stopMakingEndpoint, on: resumeMakingEndpoint, asked: 'environment' },
  { off: stopMakingEndpoint, on: resumeMakingEndpoint, asked: 'pool:gpu' },
  {
    off: stopMakingEndpoint,
    on: resumeMakingEndpoint,
    asked: 'entity:ACME',
    subject: 'entity:90000001',
    name: 'acme',
  },
  { off: pauseSweepEndpoint, on: unpauseSweepEndpoint, asked: 'check-apps' },
  { off: pauseSweepEndpoint, on: unpauseSweepEndpoint, asked: 'all' },
].map(({ off, on, asked, subject = asked, name = null }: Switch) => {
  const [field, what] = off === pauseSweepEndpoint ? ['sweep', 'sweep'] : ['subject', 'making'];
  return { off, on, asked, subject, name, field, what };
});

describe.each(SWITCHES)('$off.name $asked (F5, C12)', ({ off, on, ...given }) => {
  const { asked, field, what, subject, name } = given;
  const turn = (endpoint: Turn, person: string, note?: string) =>
    ask(endpoint, database.db, { [field]: asked, note }, person);

  test('answers the state, is listed, and ends', async () => {
    const state = { by: 'ada', at: expect.any(String), note: 'new image' };
    expect(await turn(off, 'ada', 'new image')).toEqual({ what, subject, stopped: state });
    expect(await list()).toEqual([{ what, subject, name, ...state }]);
    expect(await turn(on, 'grace')).toEqual({ what, subject, stopped: null });
    expect(await list()).toEqual([]);
  });

  test('keeps who asked first, and the audit has everybody', async () => {
    await turn(off, 'ada', 'mine');
    expect(await turn(off, 'grace', 'also mine')).toMatchObject({ stopped: { by: 'ada' } });
    await turn(on, 'grace', 'over');
    await turn(on, 'linus');
    expect((await actions()).map((row) => [row.person, row.endpoint, row.note])).toEqual([
      ['linus', on.name, null],
      ['grace', on.name, 'over'],
      ['grace', off.name, 'also mine'],
      ['ada', off.name, 'mine'],
    ]);
    expect((await actions())[0]?.subject).toEqual({ [field]: subject });
  });

  test('stops nothing if the audit cannot be written', async () => {
    const { db } = database;
    await db.schema.alterTable('actions').renameTo('mislaid').execute();
    await expect(turn(off, 'ada')).rejects.toThrow(/actions/);
    await db.schema.alterTable('mislaid').renameTo('actions').execute();
    expect(await list()).toEqual([]);
  });
});

test('a switch ends by its own name only, and the list is by age (C12)', async () => {
  for (const subject of ['pool:gpu', 'environment', 'entity:90000001'])
    await ask(stopMakingEndpoint, database.db, { subject });
  await ask(pauseSweepEndpoint, database.db, { sweep: 'redeliver' });
  await ask(resumeMakingEndpoint, database.db, { subject: 'environment' });
  await ask(unpauseSweepEndpoint, database.db, { sweep: 'all' });
  expect((await list()).map(({ subject }) => subject)).toEqual([
    'pool:gpu',
    'entity:90000001',
    'redeliver',
  ]);
});

test.each([
  ['pool:gpus', 404, 'There is no pool of the name gpus.'],
  ['entity:7', 404, 'No App was ever installed on an entity of the id 7.'],
  ['entity:acne', 400, 'No known entity has this login: acne'],
])('%s, which does not exist, cannot be stopped (F5)', async (subject, status, detail) => {
  await expect(ask(stopMakingEndpoint, database.db, { subject })).rejects.toMatchObject({
    status,
    detail: expect.stringContaining(detail),
  });
  expect([await list(), await actions()]).toEqual([[], []]);
});

test.each(['', 'pool', 'pool:', 'pool:a b', 'pool:a:b', 'environment:', 'worker:x', 'POOL:x'])(
  'no subject of the making is called %j',
  (subject) => {
    expect(stopMakingEndpoint.input.safeParse({ subject }).success).toBe(false);
  },
);

test('a sweep that does not exist cannot be paused', () => {
  expect(pauseSweepEndpoint.input.safeParse({ sweep: 'check-app' }).success).toBe(false);
});
