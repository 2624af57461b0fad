/** Columns that are there although nothing in the schema says so, by the file of the statement. */
export const NEVER_NULL: Readonly<Record<string, readonly string[]>> = {
  // A key with pauses has the end of the last one.
  'packages/db/src/workers/failing-keys.ts': ['pausedUntil'],
  // They are written with refused_since, and wait_message with wait_until.
  'packages/api/src/why/find-hindrances.ts': ['reason', 'until', 'message'],
  // What was given up was a delivery to an App.
  'packages/api/src/deliveries/deliveries.ts': ['app'],
  // An operation is in one of the two tables.
  'packages/api/src/operations/operation.ts': ['failures'],
  'packages/api/src/operations/list-operations.ts': ['failures'],
  // The watched tables exist.
  'packages/api/src/sessions/read-changes.ts': ['written'],
  // Null only with the key, which is looked at first.
  'packages/api/src/usage/usage.ts': [
    'more',
    'jobs',
    'started',
    'workers',
    'podMs',
    'idleMs',
    'thrownAwayMs',
    'place',
    'totalBefore',
  ],
  // They are those of the entity, which is not null.
  'packages/db/src/matching/reserve-workers.ts': ['demandKey', 'login', 'installationId'],
  // A comparison with null follows one that is false.
  'packages/db/src/jobs/jobs-in-doubt.ts': ['isRecovered', 'isLost'],
  'packages/db/src/workers/overdue-workers.ts': ['isRegistrationDue', 'isIdleDue'],
  'packages/db/src/workers/runner-versions.ts': ['isUnasked'],
  // Each sum and age is of a group that has rows.
  'packages/db/src/gauges/shared-gauges.ts': ['value'],
  // `refused_until` was written by the same statement.
  'packages/db/src/entities/refusals.ts': ['ms'],
  // The condition is about the same expressions.
  'packages/db/src/entities/waits.ts': ['ms', 'message'],
};

/** Files with statements that made-up values do not reach. */
export const UNREACHED: Readonly<Record<string, string>> = {
  'packages/api/src/trace/read-trace.ts': 'after an entity that made-up rows do not name',
  'packages/api/src/trace/trace.ts': 'after an entity that made-up rows do not name',
  'packages/db/src/migrate.ts': 'runs on a connection of its own, before each test',
  'packages/db/src/entities/refusals.ts': 'after answers of GitHub that made-up ones are not',
  'packages/db/src/jobs/record-jobs.ts': 'after deliveries that made-up ones are not',
};
