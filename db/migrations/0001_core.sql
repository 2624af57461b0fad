-- The tables of jobs, workers, deliveries and the queue.
-- Names are unqualified: an environment is a schema, chosen by the connection's search_path (A8).

-- One row: who we are among others that share an organisation, a namespace or a cluster. It is part of every runner's, pod's and Secret's name.
create table instance (
  only_row boolean primary key default true check (only_row),
  instance_id text not null check (instance_id ~ '^[a-z0-9]{6}$'),
  created_at timestamptz not null default now()
);
insert into instance (instance_id)
select string_agg(substr('abcdefghijklmnopqrstuvwxyz0123456789', 1 + (get_byte(bytes, i) % 36), 1), '')
from (select uuid_send(gen_random_uuid()) as bytes) random, generate_series(0, 5) i;

create type status_enum as enum ('pending', 'running', 'completed', 'failed');
create type provider_enum as enum ('github', 'gitlab', 'azdo');
create type entity_type_enum as enum ('Organization', 'User');

-- A demand key is (entity, scope, pool); a registration scope is the organisation (scope_repo_id 0) or one repository.
-- One integer computed from it keeps counting to an index-only scan, and no writer can get it wrong. 53 bits, so that it is exact in
-- JavaScript: among 100 000 keys two collide with a probability below one in a million.
create function demand_key_of(entity_id bigint, scope_repo_id bigint, pool text) returns bigint
language sql immutable parallel safe
return hashtextextended(entity_id::text || ':' || scope_repo_id::text || ':' || pool, 0) & 9007199254740991;

-- One row per GitHub workflow job. `status` is history and moves forward only: pending -> running -> completed | failed.
-- `wants_worker` is demand: GitHub calls the job queued and no worker of ours runs it.
create table jobs (
  job_id bigint primary key,
  status status_enum not null default 'pending',
  wants_worker boolean not null,
  failure_info jsonb,
  provider provider_enum not null default 'github',
  entity_id bigint not null,
  entity_name text not null,
  entity_type text not null check (entity_type in ('Organization', 'User')),
  repo_id bigint not null,
  repo_full_name text not null,
  app_id bigint not null,
  installation_id bigint not null,
  job_labels jsonb not null default '[]',
  k8s_pool text not null,
  k8s_image text not null,
  k8s_pod text,
  scope_repo_id bigint not null,
  demand_key bigint not null generated always as (demand_key_of(entity_id, scope_repo_id, k8s_pool)) stored,
  pools_version integer not null,
  run_id bigint not null,
  run_attempt integer not null,
  job_name text not null,
  workflow_name text,
  html_url text,
  conclusion text,
  runner_name text,
  runner_id bigint,
  queued_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  delivery_guid text,
  lookup_due_at timestamptz,
  seen_queued_at timestamptz,
  requeues integer not null default 0,
  recovery_attempts integer not null default 0,
  misjudged boolean not null default false,
  revision integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
) with (fillfactor = 85);

-- What the matcher counts and orders: waiting jobs only.
create index jobs_waiting on jobs (demand_key, created_at, job_id) where wants_worker;
-- What recovery and the console look for among unfinished jobs.
create index jobs_active on jobs (entity_id, job_labels, created_at) where status in ('pending', 'running');
create index jobs_active_by_installation on jobs (installation_id) where status in ('pending', 'running');
create index jobs_lookup_due on jobs (lookup_due_at) where lookup_due_at is not null;
create index jobs_newest on jobs (created_at desc);

-- One row per runner: its registration, Secret and pod share its name. Never deleted.
--   pending -> running -> completed | failed; the row ends on its pod's evidence, the pod itself goes later.
create table workers (
  pod_name text primary key check (pod_name ~ '^[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?$'),
  status status_enum not null default 'pending',
  failure_info jsonb,
  provider provider_enum not null default 'github',
  entity_id bigint not null,
  entity_name text not null,
  entity_type text not null check (entity_type in ('Organization', 'User')),
  app_id bigint not null,
  installation_id bigint not null,
  repo_full_name text,
  scope_repo_id bigint not null,
  job_labels jsonb not null,
  made_for_job_id bigint,
  delivery_guid text,
  k8s_pool text not null,
  k8s_image text not null,
  k8s_node text,
  demand_key bigint not null generated always as (demand_key_of(entity_id, scope_repo_id, k8s_pool)) stored,
  pools_version integer not null,
  cluster text not null default 'default',
  namespace text not null,
  pod_uid text,
  pod_created_at timestamptz,
  runner_id bigint,
  registered_labels jsonb,
  registration_started_at timestamptz,
  registered_at timestamptz,
  registration_gone_at timestamptz,
  assigned_at timestamptz,
  assigned_job_id bigint,
  stopping_at timestamptz,
  stop_reason text,
  exit_code integer,
  unexplained_until timestamptz,
  unschedulable_at timestamptz,
  secret_deleted_at timestamptz,
  pod_deleted_at timestamptz,
  running_at timestamptz,
  completed_at timestamptz,
  revision integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((status in ('completed', 'failed')) = (completed_at is not null))
) with (fillfactor = 80);

-- What the matcher counts against caps, and of it what it counts as supply.
create index workers_alive on workers (demand_key) include (entity_id, scope_repo_id, k8s_pool) where status in ('pending', 'running');
create index workers_unassigned on workers (demand_key) include (made_for_job_id)
  where status in ('pending', 'running') and assigned_at is null and stopping_at is null;
-- Not by pod_uid, though it is asked for: writing down a pod would then cost an entry in each index of the table.
create index workers_unregistered on workers (created_at desc, pod_name)
  where status = 'pending' and registration_started_at is null;
create index workers_unschedulable on workers (k8s_pool) where unschedulable_at is not null and status = 'pending';
create index workers_active on workers (entity_id, job_labels, created_at) where status in ('pending', 'running');
-- By time, so that a grace long over is never read again.
create index workers_unexplained on workers (unexplained_until) include (demand_key) where unexplained_until is not null and assigned_at is null;
create index workers_pod_kept on workers (completed_at) where completed_at is not null and pod_deleted_at is null;
create index workers_registration_left on workers (completed_at)
  where status = 'failed' and registration_started_at is not null and registration_gone_at is null;
create index workers_newest on workers (created_at desc);

-- Every accepted delivery, every failed authentication, every discovery: appended, never changed (A4).
create table installation_events (
  id bigint primary key generated always as identity,
  source text not null check (source in ('webhook', 'scheduler', 'reconciler')),
  event text not null,
  outcome text not null,
  app_id bigint,
  installation_id bigint,
  entity_type entity_type_enum,
  entity_id bigint,
  entity_name text,
  repo_id bigint,
  job_id bigint,
  delivery_guid text,
  payload jsonb not null,
  payload_repaired boolean not null default false,
  received_at timestamptz not null default now()
-- Payloads are compressed, and then short enough to stay in their row: two rows and an entry in a second index less for each (ADR 0008).
) with (toast_tuple_target = 4096);
do $$
begin
  alter table installation_events alter column payload set compression lz4;
exception when feature_not_supported then
  null; -- This server was built without lz4; it uses its own method, at more CPU time.
end $$;
create index installation_events_by_installation on installation_events (installation_id, entity_id);
create index installation_events_by_entity on installation_events (entity_id, received_at desc);
create index installation_events_by_delivery on installation_events (delivery_guid) where delivery_guid is not null;
create index installation_events_by_job on installation_events (job_id) where job_id is not null;

-- Where an App is installed now. Rows are facts with the instant at which GitHub stated them; older statements change nothing.
create table installations (
  entity_id bigint not null,
  app_id bigint not null,
  installation_id bigint not null,
  login text not null,
  entity_type entity_type_enum not null,
  repository_selection text,
  suspended_at timestamptz,
  deleted_at timestamptz,
  stated_at timestamptz not null,
  updated_at timestamptz not null default now(),
  primary key (entity_id, app_id)
);
create index installations_by_id on installations (installation_id);

-- What the matcher last saw of each key that is not at rest, and why it makes no more workers there (P5).
create table demand_keys (
  demand_key bigint primary key,
  entity_id bigint not null,
  entity_name text not null,
  scope_repo_id bigint not null,
  k8s_pool text not null,
  waiting integer not null,
  unassigned integer not null,
  cap integer,
  wait_reason text,
  wait_since timestamptz,
  updated_at timestamptz not null default now()
);

-- Where no new workers are made until the row goes: in the whole environment, in a pool (by name) or for an account (by id) (C12).
create table stopped_making (
  subject_type text not null check (subject_type in ('environment', 'pool', 'entity')),
  subject_id text not null,
  stopped_by text not null,
  stopped_at timestamptz not null default now(),
  primary key (subject_type, subject_id),
  check ((subject_type = 'environment') = (subject_id = ''))
);

-- What GitHub last said of each installation's budget for registering runners. After reset_at the budget is full again.
create table registration_budgets (
  installation_id bigint primary key,
  remaining integer not null check (remaining >= 0),
  reset_at timestamptz not null,
  paused_until timestamptz,
  noted_at timestamptz not null default now()
);

-- What failed lately, by what is at fault (C11). `failures` counts those in a row; with `pauses` the breaker is open, and works again only
-- after a trial. A success removes the row.
create table breakers (
  subject_type text not null check (subject_type in ('pool', 'installation', 'github', 'cluster')),
  subject_id text not null,
  failure_class text not null,
  failures integer not null,
  pauses integer not null default 0,
  paused_until timestamptz,
  trial_until timestamptz,
  message text not null,
  failed_at timestamptz not null default now(),
  primary key (subject_type, subject_id, failure_class)
);

-- The pools document; the row with the highest version is in force.
create table pools_documents (
  version integer primary key generated always as identity,
  digest text not null,
  content jsonb not null,
  loaded_by text not null,
  loaded_at timestamptz not null default now()
);

-- What one replica only may do, for eight seconds at a time. `fence` rises with every new holder.
create table leases (
  name text primary key,
  holder text not null,
  fence bigint not null,
  expires_at timestamptz not null
);

-- The newest nominal tick of each schedule that somebody took.
create table schedules (
  name text primary key,
  last_tick_at timestamptz not null,
  taken_by text not null,
  taken_at timestamptz not null default now()
);

-- Every UPDATE of a job or worker moves updated_at and raises revision, the fence that recovery reads and checks.
create function touch_row() returns trigger language plpgsql as $$
begin
  new.updated_at := now();
  new.revision := old.revision + 1;
  return new;
end $$;
create trigger jobs_touch before update on jobs for each row execute function touch_row();
create trigger workers_touch before update on workers for each row execute function touch_row();

-- Wakes whoever matches demand with supply: `{schema}_queue_event`, delivered on commit, a hint only (A7). One per statement that matters.
create function notify_queue_event() returns trigger language plpgsql as $$
begin
  perform pg_notify(tg_table_schema || '_queue_event', tg_table_name);
  return null;
end $$;

create function notify_new_demand() returns trigger language plpgsql as $$
begin
  if exists (select from new_rows where wants_worker) then
    perform pg_notify(tg_table_schema || '_queue_event', 'jobs');
  end if;
  return null;
end $$;
create trigger jobs_inserted after insert on jobs
  referencing new table as new_rows for each statement execute function notify_new_demand();

create function notify_demand_changed() returns trigger language plpgsql as $$
begin
  if exists (select from new_rows n join old_rows o using (job_id) where n.wants_worker <> o.wants_worker) then
    perform pg_notify(tg_table_schema || '_queue_event', 'jobs');
  end if;
  return null;
end $$;
create trigger jobs_updated after update on jobs
  referencing old table as old_rows new table as new_rows for each statement execute function notify_demand_changed();

create function notify_capacity_freed() returns trigger language plpgsql as $$
begin
  if exists (
    select from new_rows n join old_rows o using (pod_name)
    where (n.completed_at is not null and o.completed_at is null) or (n.unschedulable_at is null and o.unschedulable_at is not null)
  ) then
    perform pg_notify(tg_table_schema || '_queue_event', 'workers');
  end if;
  return null;
end $$;
create trigger workers_updated after update on workers
  referencing old table as old_rows new table as new_rows for each statement execute function notify_capacity_freed();

create trigger pools_documents_inserted after insert on pools_documents for each statement execute function notify_queue_event();
create trigger breakers_closed after delete on breakers for each statement execute function notify_queue_event();
create trigger stopped_making_changed after insert or delete on stopped_making for each statement execute function notify_queue_event();
