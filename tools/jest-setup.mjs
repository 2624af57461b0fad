// One PostgreSQL for all tests, with one migrated template database that each test file clones.
import { startTestServer } from '../packages/testing/src/test-server.ts';

export let server;

export default async function () {
  server = await startTestServer(process.env);
  process.env.PADDOCK_TEST_SERVER_URL = server.url;
  process.env.PADDOCK_TEST_TEMPLATE = server.template;
  process.env.PADDOCK_TEST_LOGINS = JSON.stringify(server.logins);
}
