import { sql } from 'kysely';
import type { Db } from '../schema/tables.ts';

// Each statement is fine, and says one thing of its rows that is false.

export const misspeltColumn = (db: Db) =>
  sql<{ podNmae: string }>`select pod_name as "podName" from workers`.execute(db);

export const nullableCalledString = (db: Db) =>
  sql<{ podUid: string }>`
    select w.pod_uid as "podUid" from workers w where w.registered_at is not null`.execute(db);

export const outerJoinCalledString = (db: Db) =>
  sql<{ podName: string }>`
    select w.pod_name as "podName" from jobs j left join workers w on w.demand_key = j.demand_key`.execute(
    db,
  );

export const bigintCalledNumber = (db: Db) =>
  sql<{ total: number }>`select coalesce(sum(job_id), 0) as total from jobs`.execute(db);

export const bigintCalledString = (db: Db) =>
  sql<{ jobId: string }>`select job_id as "jobId" from jobs`.execute(db);

const isOneOf = (jobIds: readonly number[]) => sql`job_id = any(${jobIds}::bigint[])`;

export const missingColumn = (db: Db, jobIds: readonly number[]) =>
  sql<{ jobId: number; status: string }>`
    select job_id as "jobId" from jobs where ${isOneOf(jobIds)}`.execute(db);

export const jsonCalledDate = (db: Db) =>
  sql<{ payload: Date }>`
    select payload from installation_events where payload is not null`.execute(db);
