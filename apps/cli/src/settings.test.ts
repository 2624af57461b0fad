import { expect, test } from '@jest/globals';
import { readPlace } from './settings.ts';

test('PGSSLMODE and PGPASSFILE count for the terminal as for the services (A11, D12)', () => {
  const DATABASE_URL = 'postgresql://ada@db.test/paddock';
  const libpq = { PGSSLMODE: 'require', PGPASSFILE: '/home/ada/.pgpass' };
  expect(readPlace({ DATABASE_URL, ...libpq })).toEqual({
    database: {
      url: `${DATABASE_URL}?sslmode=require&passfile=%2Fhome%2Fada%2F.pgpass`,
      schema: 'paddock',
    },
  });
});
