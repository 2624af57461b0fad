import { beforeEach, expect, test } from '@jest/globals';
import { putInstallation, putPools } from '@paddock/testing/demand-rows';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { listActionsEndpoint } from '../actions/list-actions.ts';
import { ask, askAll } from '../scenes/ask.scene.ts';
import { listSwitchesEndpoint, turnSwitchEndpoint } from './switches.ts';

const database = useTestDatabase();
beforeEach(async () => {
  await emptyTables(database.db, ['switches', 'actions', 'installations']);
  await putPools(database.db, { pools: [{}, { name: 'gpu', labels: ['gpu'] }] });
  await putInstallation(database.db);
});

const list = () => askAll(listSwitchesEndpoint, database.db, { limit: '1' });
const actions = async () => (await ask(listActionsEndpoint, database.db)).items;

/** Each kind of switch, as people ask for it and as rows name it. */
const SUBJECTS = [
  { asked: 'environment' },
  { asked: 'pool:gpu' },
  { asked: 'entity:ACME', subject: 'entity:90000001', name: 'acme' },
  { asked: 'check-apps' },
  { asked: 'discover-jobs:ACME/api', subject: 'discover-jobs:acme/api' },
  { asked: 'sweeps' },
].map(({ asked, subject = asked, name = null }) => ({ asked, subject, name }));

const turn = (how: 'pause' | 'resume') => (subject: string, person: string, note?: string) =>
  ask(turnSwitchEndpoint, database.db, { how, subject, note }, person);
const [set, lift] = [turn('pause'), turn('resume')];

test.each(SUBJECTS)(
  'a switch of $asked answers how it stands, is listed, and is lifted (F5, C12, E6)',
  async ({ asked, subject, name }) => {
    const held = { by: 'ada', since: expect.any(String), note: 'new image' };
    expect(await set(asked, 'ada', 'new image')).toEqual({ subject, held });
    expect(await list()).toEqual([{ subject, name, ...held }]);
    expect(await lift(asked, 'grace')).toEqual({ subject, held: null });
    expect(await list()).toEqual([]);
  },
);

test('a switch keeps who asked first, and the audit has everybody (F5)', async () => {
  await set('entity:ACME', 'ada', 'mine');
  expect(await set('entity:acme', 'grace', 'also mine')).toMatchObject({ held: { by: 'ada' } });
  await lift('entity:acme', 'grace', 'over');
  await lift('entity:acme', 'linus');
  expect((await actions()).map((row) => [row.person, row.subject['how'], row.note])).toEqual([
    ['linus', 'resume', null],
    ['grace', 'resume', 'over'],
    ['grace', 'pause', 'also mine'],
    ['ada', 'pause', 'mine'],
  ]);
  expect((await actions())[0]?.subject).toMatchObject({ subject: 'entity:90000001' });
});

test.each([
  ['pool:gpus', 404, 'There is no pool of the name gpus.'],
  ['entity:7', 404, 'No App was ever installed on an entity of the id 7.'],
  ['entity:acne', 400, 'No known entity has this login: acne'],
])(
  '%s, which does not exist, cannot be held back or let go (F5)',
  async (subject, status, detail) => {
    for (const act of [set, lift])
      await expect(act(subject, 'ada')).rejects.toMatchObject({
        status,
        detail: expect.stringContaining(detail),
      });
    expect([await list(), await actions()]).toEqual([[], []]);
  },
);

test('a pool that has left the file can be let go, once (F5)', async () => {
  await set('pool:gpu', 'ada');
  await putPools(database.db);
  expect(await lift('pool:gpu', 'ada')).toEqual({ subject: 'pool:gpu', held: null });
  await expect(lift('pool:gpu', 'ada')).rejects.toMatchObject({ status: 404 });
});
