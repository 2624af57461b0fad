/** Columns that are there although nothing in the schema says so, by the file of the statement. */
export const NEVER_NULL: Readonly<
  Record<string, { readonly columns: readonly string[]; readonly because: string }>
> = {
  'packages/db/src/workers/failing-keys.ts': {
    columns: ['pausedUntil'],
    because: 'a key with pauses has the end of the last one',
  },
  'packages/api/src/why/find-hindrances.ts': {
    columns: ['reason', 'until', 'message'],
    because: 'are written with refused_since, and wait_message with wait_until',
  },
  'packages/api/src/deliveries/deliveries.ts': {
    columns: ['app'],
    because: 'what was given up was a delivery to an App',
  },
  'packages/api/src/operations/operation.ts': {
    columns: ['failures'],
    because: 'an operation is in one of the two tables',
  },
  'packages/api/src/sessions/read-changes.ts': {
    columns: ['written'],
    because: 'the watched tables exist',
  },
  'packages/api/src/usage/usage.ts': {
    columns: ['more', 'jobs', 'workers', 'podMs', 'idleMs', 'thrownAwayMs'],
    because: 'null only with the key, which is looked at first',
  },
  'packages/db/src/matching/reserve-workers.ts': {
    columns: ['demandKey', 'login', 'installationId'],
    because: 'are those of the entity, which is not null',
  },
  'packages/db/src/jobs/jobs-in-doubt.ts': {
    columns: ['isRecovered', 'isLost'],
    because: 'a comparison with null follows one that is false',
  },
  'packages/db/src/gauges/shared-gauges.ts': {
    columns: ['value'],
    because: 'each sum and age is of a group that has rows',
  },
  'packages/db/src/entities/installations.ts': {
    columns: ['owner'],
    because: 'pin_login returns the id that it has stored or found',
  },
  'packages/db/src/entities/refusals.ts': {
    columns: ['ms'],
    because: 'refused_until was written by the same statement',
  },
  'packages/db/src/entities/waits.ts': {
    columns: ['ms', 'message'],
    because: 'the condition is about the same expressions',
  },
};

/** Files with statements that made-up values do not reach. */
export const UNREACHED: Readonly<Record<string, string>> = {
  'packages/db/src/migrate.ts': 'runs on a connection of its own, before each test',
  'packages/db/src/connection/wait-until-fit.ts': 'runs on a connection of its own, at each start',
  'packages/db/src/jobs/record-jobs.ts': 'after deliveries that made-up ones are not',
};
