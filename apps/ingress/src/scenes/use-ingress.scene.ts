import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { TestDatabase } from '@paddock/testing/database';
import { late } from '@paddock/testing/use-test-database';
import { untilDisconnected } from '@paddock/testing/until-disconnected';
import {
  createIngressDatabase,
  type Ingress,
  type IngressStart,
  PATIENT,
  startIngress,
} from './ingress.scene.ts';

/** One process of ingress for the tests of a file, with a new database. */
export function useIngress(config?: string): { database: TestDatabase; ingress: Ingress } {
  let database: TestDatabase;
  let ingress: Ingress;
  beforeAll(async () => {
    database = await createIngressDatabase(config);
    const { url, schema } = database;
    ingress = await startIngress({
      url,
      schema,
      rules: PATIENT,
      ...(config === undefined ? {} : { config }),
    });
    await ingress.untilReady();
  });
  afterAll(async () => {
    await ingress.end('SIGTERM');
    await database.drop();
  });
  return { database: late(() => database), ingress: late(() => ingress) };
}

/** Starts processes of ingress that end with their test; their stored rows go too. */
export function useIngresses(
  database: TestDatabase,
): (given: Partial<IngressStart>) => Promise<Ingress> {
  const started: Ingress[] = [];
  afterEach(async () => {
    for (const ingress of started.splice(0)) await ingress.end('SIGKILL');
    await untilDisconnected(database.db, 'ingress');
    await database.db.deleteFrom('jobs').execute();
    await database.db.deleteFrom('installation_events').execute();
  });
  return async (given) => {
    const { url, schema } = database;
    const ingress = await startIngress({ url, schema, ...given });
    started.push(ingress);
    return ingress;
  };
}
