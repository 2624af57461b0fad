import { expect, test } from '@jest/globals';
import { type DatabaseFacts, warningOf, whyUnfit, whyUnmigratable } from './database-checks.ts';
import { SCHEMA_VERSION } from './schema-version.ts';

const PLACE = { schema: 'prod', role: 'prod_ingress' };
const FIT: DatabaseFacts = {
  server: 17,
  encoding: 'UTF8',
  isCollationOld: false,
  isReadOnly: false,
  login: 'someone',
  mayUse: true,
  isMember: true,
  lacking: [],
  idleTriggers: [],
  powerless: [],
  unvacuumed: [],
  uninherited: [],
  version: SCHEMA_VERSION,
  connections: 97,
};

test.each<[string, Partial<DatabaseFacts>]>([
  ['nothing', {}],
  ['nothing', { server: 19, version: SCHEMA_VERSION + 1, isMember: null }],
  ['PostgreSQL 14 is too old: Paddock needs 15 to 18', { server: 14 }],
  ['has the encoding SQL_ASCII', { encoding: 'SQL_ASCII' }],
  ['PostgreSQL takes no writes', { isReadOnly: true }],
  ['grant it the role prod_ingress', { mayUse: false, isMember: false }],
  ['alter role someone inherit', { mayUse: false, uninherited: ['prod_ingress'] }],
  ['the role prod_ingress is missing, or has no rights', { mayUse: false, isMember: null }],
  ['lacks rights in the schema prod (insert on jobs): grant it', { lacking: ['insert on jobs'] }],
  ['switched off (a on jobs): switch them on again', { idleTriggers: ['a on jobs'] }],
  ['the migration has not run on this database', { mayUse: null, version: undefined }],
  [`is at version 0 and this service needs ${SCHEMA_VERSION}`, { version: 0 }],
])('why a service cannot work on a database: %s (A10, A11)', (why, differing) => {
  const facts = { ...FIT, ...differing };
  expect(whyUnfit(facts, PLACE) ?? 'nothing').toContain(why);
  // A migration mends what is wrong with the schema.
  const isOfServer = ['server', 'encoding', 'isReadOnly'].some((key) => key in differing);
  expect(whyUnmigratable(facts, PLACE) !== undefined).toBe(isOfServer && why !== 'nothing');
});

test.each([
  ['nothing', {}],
  ['allows the login someone 9 connections, and this process alone may use 10', { connections: 9 }],
  ['PostgreSQL 19 is newer than', { server: 19 }],
  ['indexes of texts may miss rows: reindex database', { isCollationOld: true }],
  ['autovacuum is switched off for jobs: switch it on', { unvacuumed: ['jobs'] }],
])('what should be mended although a service works: %s (A11)', (warning, differing) => {
  expect(warningOf({ ...FIT, ...differing }, 10) ?? 'nothing').toContain(warning);
});
