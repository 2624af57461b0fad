import { expect, test } from '@jest/globals';
import { isWorkerName, workerName } from '@paddock/domain/workers/worker-name';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { findInstance } from '../instance.ts';
import { newWorkerName } from './worker-name.ts';

const database = useTestDatabase();

test.each(['linux', 'v1.29.3-arm', 'p'.repeat(30)])(
  'PostgreSQL names workers of the pool %s as the domain does (A8)',
  async (pool) => {
    const instance = await findInstance(database.db);
    const made = newWorkerName(sql<string>`instance_id`, sql<string>`${pool}::text`);
    const { rows } = await sql<{
      name: string;
    }>`select ${made} as name from instance, generate_series(1, 2)`.execute(database.db);
    const names = rows.map(({ name }) => name);
    expect(new Set(names).size).toBe(2);
    for (const name of names) {
      expect(name).toBe(workerName(instance, pool, name.slice(-12)));
      expect(isWorkerName(name, instance)).toBe(true);
    }
  },
);
