import { expect, test } from '@jest/globals';
import { noteLife } from '@paddock/db/instance';
import { putPools } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { ask } from '../scenes/ask.scene.ts';
import { findingsOf, listFindingsEndpoint } from './findings.ts';

const database = useTestDatabase();
const find = () => ask(listFindingsEndpoint, database.db);

test('a healthy installation is well, and says where the rest is checked (H1)', async () => {
  const { db } = database;
  for (const service of ['ingress', 'scheduler', 'reconciler'] as const)
    await noteLife(db, service);
  await putPools(db);
  expect(await find()).toEqual({
    isWell: true,
    findings: [
      {
        level: 'unchecked',
        part: 'configuration',
        sentence: expect.stringContaining('run `paddock doctor` in a pod of the scheduler'),
      },
    ],
  });
});

test('what is wrong comes first, by the rights of the console (H1)', async () => {
  await sql`insert into schedules (name, last_tick_at, succeeded_at) values ('check-workers', now() - interval '1 hour', now() - interval '1 hour')`.execute(
    database.db,
  );
  await sql`insert into switches (subject_type, subject_id, switched_by) values ('environment', '', 'ada')`.execute(
    database.db,
  );
  const { isWell, findings } = await find();
  expect([isWell, findings.map(({ level, sentence }) => [level, sentence])]).toEqual([
    false,
    [
      ['mend', expect.stringContaining('The sweep check-workers repairs nothing')],
      ['remark', expect.stringContaining('ada holds back')],
      ['unchecked', expect.anything()],
    ],
  ]);
});

test('a sentence ends in one full stop, and a long gap in it costs no time', () => {
  const { found, mend } = findingsOf('configuration');
  // If the time grew with the square of the length, this would take an hour.
  const gap = ' .'.repeat(1_000_000);
  mend('it is wrong. .', `a${gap}b`);
  expect(found.map(({ sentence }) => sentence)).toEqual(['it is wrong.', `a${gap}b.`]);
});
