import { useTestDatabase } from '@paddock/testing/use-test-database';
import { expect, test } from '@jest/globals';
import { runDemo } from './run-demo.ts';

const database = useTestDatabase();

const failing = (databaseUrl: string): Promise<unknown> =>
  runDemo(
    { jobs: 1, loss: 0, keep: false, tour: false, json: false, cluster: 'simulated' },
    {
      databaseUrl,
      kubeconfigFile: undefined,
      path: process.env['PATH'],
      write: () => undefined,
      programOf: () => '/no/such/service.ts',
    },
    new AbortController().signal,
  );

test('says why it could not start, though its schema cannot be removed then either', async () => {
  await expect(failing('postgresql://postgres@127.0.0.1:1/postgres')).rejects.toThrow(
    'ECONNREFUSED',
  );
});

const children = (): string[] =>
  process.getActiveResourcesInfo().filter((of) => of === 'ProcessWrap');

test('ends what it has started if a service does not start', async () => {
  const before = children();
  await expect(failing(database.url)).rejects.toThrow('/no/such/service.ts');
  expect(children()).toEqual(before);
});
