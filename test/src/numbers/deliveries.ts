import { assertSchemaName } from '@paddock/db/connection/schema-name';
import { newWorkerName } from '@paddock/db/workers/worker-name';
import { LOOK_EVERY_MS } from '@paddock/github/follow-apps';
import { sql } from 'kysely';
import { code, database, type NumberRow, row, rule, setting, testOf } from './number-row.ts';

/** Of ingress, and of the names in an environment. */
export const deliveries: readonly NumberRow[] = [
  row('B1', '25 MB', 'Largest body of a delivery', rule('ingress', 'maxBodyBytes')),
  row(
    'B5',
    '3 s',
    'Longest wait for an answer; an unstored delivery then gets a 503',
    rule('ingress', 'answerTimeoutMs'),
  ),
  row('B5', '2.5 s', 'Longest transaction of deliveries', rule('ingress', 'writeTimeoutMs')),
  row('B5', '10 s', 'Longest time for a request to arrive whole', rule('ingress', 'bodyTimeoutMs')),
  row(
    'B5',
    '10 s',
    '`Retry-After` of a 503',
    testOf(
      'apps/ingress/src/receive-delivery.test.ts',
      'answers 503 to a delivery that is not stored in time, while not ready, and on unexpected errors (B5)',
    ),
  ),
  row('B6', '64', 'Most deliveries that share a commit', rule('ingress', 'maxBatch')),
  row('B6', '4', 'Most transactions of deliveries at one time', rule('ingress', 'writers')),
  row(
    'B6',
    '1',
    'Repetitions of a batch after a conflict',
    testOf(
      'apps/ingress/src/batcher.test.ts',
      'a batch that lost a conflict (%s) is repeated whole, once (B6)',
    ),
  ),
  row(
    'A4',
    '20',
    'Most rows of one body, with any headers',
    testOf(
      'packages/db/src/deliveries/repeated-bodies.db.test.ts',
      'leaves at most 20 rows, under any GUIDs: %s (A4)',
    ),
  ),
  row(
    'B4',
    '15 s',
    'How often the configuration file is checked for a change',
    rule('db', 'poolsRefreshMs'),
  ),
  row(
    'B2',
    '5 s',
    'How often services look for changed Apps, keys and webhook secrets',
    code('LOOK_EVERY_MS in packages/github/src/follow-apps.ts', () => LOOK_EVERY_MS),
  ),
  row(
    'B4',
    '48 h',
    'Age of the oldest ignored jobs that a change of the pools brings back',
    rule('scheduler', 'reconsiderHours'),
  ),
  row('A11', '10', 'Connections in the pool of ingress', setting('PADDOCK_INGRESS_POOL_SIZE')),
  row(
    'A8',
    '51 bytes',
    'Longest name of a schema',
    code('assertSchemaName in packages/db/src/connection/schema-name.ts', longestSchemaName),
  ),
  row(
    'A8',
    '6 characters',
    'Length of an environment’s id',
    database('instance.instance_id', async (db) => {
      const instance = await db.selectFrom('instance').select('instance_id').executeTakeFirst();
      return instance?.instance_id.length;
    }),
  ),
  row(
    'A8',
    '54 characters',
    'Longest name of a worker; a host name may have 63',
    database('newWorkerName in packages/db/src/workers/worker-name.ts', async (db) => {
      const longestPool = sql<string>`repeat('p', 30)`;
      const named = await sql<{ name: string }>`
        select ${newWorkerName(sql<string>`instance_id`, longestPool)} as name from instance`.execute(
        db,
      );
      return named.rows[0]?.name.length;
    }),
  ),
];

function longestSchemaName(): number | undefined {
  const lengths = Array.from({ length: 100 }, (_, index) => index + 1);
  return lengths.findLast((length) => isTaken('s'.repeat(length)));
}

function isTaken(schema: string): boolean {
  try {
    assertSchemaName(schema);
    return true;
  } catch {
    return false;
  }
}
