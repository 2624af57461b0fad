// Shared by all test files with a database: a PostgreSQL with a migrated template database that
// each clones, and the programs that they start.
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
