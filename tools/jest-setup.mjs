// One PostgreSQL for all tests, with one migrated template database that each test file clones, and the programs that tests start.
import { startTestServer } from '../packages/testing/src/test-server.ts';
import { bundlePrograms } from './bundle-programs.mjs';

export let server;
export let programs;

export default async function () {
  [server, programs] = await Promise.all([startTestServer(process.env), bundlePrograms()]);
  process.env.PADDOCK_TEST_SERVER_URL = server.url;
  process.env.PADDOCK_TEST_TEMPLATE = server.template;
  process.env.PADDOCK_TEST_LOGINS = JSON.stringify(server.logins);
  process.env.PADDOCK_TEST_PROGRAMS = programs.folder;
}
