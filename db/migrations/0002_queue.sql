-- The queue: `tasks` holds unfinished work only; settling moves a row to `operations`, where people find it until it expires.
--   queued -> running -> (operations) OK | ERROR; retry, snooze and recovery go back to queued.

create table tasks (
  id uuid primary key default gen_random_uuid(),
  kind text not null,
  subject_type text not null,
  subject_id text not null,
  subject_name text,
  payload jsonb not null default '{}',
  origin text not null default 'AUTOMATIC' check (origin in ('MANUAL', 'AUTOMATIC')),
  requested_by text,
  delivery_guid text,
  status text not null default 'queued' check (status in ('queued', 'running')),
  attempt integer not null default 0,
  max_attempts integer not null,
  crashes integer not null default 0,
  max_crashes integer not null,
  failures jsonb not null default '[]',
  queued_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  started_at timestamptz,
  locked_by text,
  locked_at timestamptz,
  fence bigint not null default 0,
  check ((status = 'running') = (locked_by is not null and locked_at is not null and started_at is not null))
) with (fillfactor = 70);

-- One queued task per kind and subject; a running one may have one queued successor, and two never run at once (D14). Two partial indexes,
-- so that a claim makes one entry and not two. Where all are compared the subject's id comes first, because it tells most tasks apart; the
-- running ones, only as many as there are slots, are also looked through by kind. Without locked_at, so that a heartbeat touches no index.
create unique index tasks_queued_once on tasks (subject_id, subject_type, kind) where status = 'queued';
create unique index tasks_running_once on tasks (kind, subject_id, subject_type) where status = 'running';
create index tasks_due on tasks (kind, due_at) where status = 'queued';

create table operations (
  id uuid primary key,
  kind text not null,
  subject_type text not null,
  subject_id text not null,
  subject_name text,
  payload jsonb not null,
  origin text not null,
  requested_by text,
  delivery_guid text,
  status text not null check (status in ('OK', 'ERROR')),
  attempt integer not null,
  max_attempts integer not null,
  crashes integer not null,
  failures jsonb not null,
  queued_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz not null default now(),
  expires_at timestamptz not null,
  output jsonb,
  failure_reason text check (failure_reason in ('poison', 'attempts', 'crashes', 'timeout', 'cancelled')),
  failure_message text,
  check ((status = 'ERROR') = (failure_reason is not null))
);
create index operations_by_subject on operations (subject_id, subject_type, queued_at desc);
create index operations_expiring on operations (expires_at);
create index operations_failed on operations (finished_at desc) where status = 'ERROR';

-- How many ended, how, in which hour: appended by every settling statement, rolled up later, never a row that two settles share (F3).
create table task_counts (
  hour timestamptz not null,
  kind text not null,
  outcome text not null check (outcome in ('OK', 'ERROR')),
  failure_reason text,
  ended bigint not null
);
create index task_counts_by_hour on task_counts (hour, kind);

-- Wakes the processes that run the kind: `{schema}_task_event`, payload the kind (D3).
create function notify_task_event() returns trigger language plpgsql as $$
begin
  perform pg_notify(tg_table_schema || '_task_event', due.kind) from (select distinct kind from new_rows where due_at <= now()) due;
  return null;
end $$;
create trigger tasks_inserted after insert on tasks
  referencing new table as new_rows for each statement execute function notify_task_event();

alter table tasks set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500, autovacuum_analyze_scale_factor = 0.05);
-- The matcher counts in indexes alone as long as their pages are known to be visible, so new rows are vacuumed too, and the share that may
-- wait for it is small: these tables are nearly all history, and what is hot in them is not.
alter table jobs set (autovacuum_vacuum_scale_factor = 0.005, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_scale_factor = 0.005,
  autovacuum_vacuum_insert_threshold = 5000, autovacuum_analyze_scale_factor = 0.05);
alter table workers set (autovacuum_vacuum_scale_factor = 0.005, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_scale_factor = 0.005,
  autovacuum_vacuum_insert_threshold = 5000, autovacuum_analyze_scale_factor = 0.05);
