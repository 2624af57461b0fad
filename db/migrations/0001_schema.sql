-- All tables of one environment. An environment is a schema, chosen by the connection's search_path
-- (A8), so names here are unqualified.
--
-- By subject: types, Apps and entities, pools, jobs, workers, deliveries, matching, pauses, the
-- queue, sweeps, people, and last the triggers with what they do.

-- One row: who we are among others that share an organisation, a namespace or a cluster. The id is
-- part of the name of every runner, pod and Secret.
create table instance (
  only_row boolean primary key default true check (only_row),
  instance_id text not null check (instance_id ~ '^[a-z0-9]{6}$'),
  created_at timestamptz not null default now(),
  -- Events up to this id have been removed, or are kept for ever (E7).
  events_retired_to bigint not null default 0,
  -- The Apps of the scheduler that started last: the console has no configuration file.
  app_ids jsonb,
  -- When a process of each service last said that it lives: a minute without it, and people are told.
  ingress_seen_at timestamptz,
  scheduler_seen_at timestamptz,
  reconciler_seen_at timestamptz,
  -- The versions of processes that lived within the hour, as { "ingress 1.0.0": { since, last, schema } },
  -- in seconds since 1970; and for which migration they were written.
  versions jsonb not null default '{}'
);
insert into instance (instance_id)
select string_agg(substr('abcdefghijklmnopqrstuvwxyz0123456789', 1 + (get_byte(bytes, i) % 36), 1), '')
from (select uuid_send(gen_random_uuid()) as bytes) random, generate_series(0, 5) i;

-- ## Types

create type status_enum as enum ('pending', 'running', 'completed', 'failed');
create type provider_enum as enum ('github', 'gitlab', 'azdo');
create type entity_type_enum as enum ('Organization', 'User');

-- The demand key: entity, scope and pool in one integer. A scope is the organisation
-- (scope_repo_id 0) or one repository.
-- A single generated integer keeps counting to an index-only scan, and no writer can get it wrong.
-- 53 bits are exact in JavaScript. Among 100 000 keys two collide less than once in a million cases.
-- PL/pgSQL, because PostgreSQL puts the body of an SQL function into the column's expression anew
-- with every statement, which costs a single delivery a twentieth of its time.
create function demand_key_of(entity_id bigint, scope_repo_id bigint, pool text) returns bigint
language plpgsql immutable parallel safe as $$
begin
  return hashtextextended(entity_id::text || ':' || scope_repo_id::text || ':' || pool, 0) & 9007199254740991;
end $$;

-- ## Apps and entities

-- Where an App is installed. Rows are facts with the instant at which GitHub stated them; older
-- statements change nothing.
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
  -- When GitHub stated the login, if a delivery about something else told it last. An earlier
  -- statement that comes late turns no name back.
  login_stated_at timestamptz,
  -- The logins that it had before, and when it left each. Another entity may have one by now.
  former_logins jsonb not null default '{}',
  -- When its repositories were last listed. If that is before updated_at, they must be listed again.
  listed_at timestamptz,
  -- What GitHub has told us of it: to wait, with everything or with the REST API alone, how many
  -- registrations are left, and what it refuses.
  wait_until timestamptz,
  wait_message text,
  core_wait_until timestamptz,
  registrations_left integer check (registrations_left >= 0),
  registrations_reset_at timestamptz,
  refused_since timestamptz,
  refused_until timestamptz,
  refused_reason text,
  refused_message text,
  updated_at timestamptz not null default now(),
  primary key (entity_id, app_id)
);
create index installations_by_id on installations (installation_id);
-- Entities for which no worker is made (P5).
create index installations_unusable on installations (entity_id)
  where suspended_at is not null or deleted_at is not null;

-- What GitHub has told us of an App, wherever it is installed, and how far we have read its log of
-- deliveries (E1): everything up to `log_read_to`, by GitHub's clock. A reading that broke off has
-- everything from `log_cursor_from` down to its cursor, where the next one goes on.
create table apps (
  app_id bigint primary key,
  wait_until timestamptz,
  wait_message text,
  refused_since timestamptz,
  refused_until timestamptz,
  refused_reason text,
  refused_message text,
  log_read_at timestamptz,
  log_read_to timestamptz,
  log_cursor text,
  log_cursor_from timestamptz
);

-- Which entity first had a login of `entities`; a name is no identity. Another entity under that
-- login is refused until a person changes the row. Paddock only adds rows, so a pin outlives the
-- entity's jobs and its installation.
create table login_pins (
  login text primary key check (login = lower(login)),
  entity_id bigint not null,
  pinned_at timestamptz not null default now()
);

-- Repositories with recent runs. Only the reconciler writes it, so that no delivery pays for it.
create table repositories (
  repo_id bigint primary key,
  entity_id bigint not null,
  app_id bigint not null,
  full_name text,
  -- When GitHub stated the name and the owner; null: at the last activity. A job that comes now may
  -- have been queued days ago.
  named_at timestamptz,
  active_at timestamptz not null,
  -- Up to when jobs were searched for active repositories.
  noted_at timestamptz,
  -- When discovery looks next; the one that is due longest comes first.
  due_at timestamptz not null default now(),
  looked_at timestamptz,
  -- Of its lists of runs, by the runs' status.
  etags jsonb not null default '{}',
  -- When a person last had it compared with GitHub; operations keep that for a day only.
  resynced_at timestamptz,
  -- Since when GitHub has not answered for it; null: it answered the last question.
  unanswered_since timestamptz,
  -- When all lists of its unfinished runs were last read.
  full_at timestamptz,
  -- What GitHub refuses us there.
  refused_since timestamptz,
  refused_until timestamptz,
  refused_reason text,
  refused_message text
);
create index repositories_refused on repositories (entity_id) where refused_since is not null;
-- Of each entity the least recently read, and the active ones.
create index repositories_due_by_entity on repositories (entity_id, due_at);
create index repositories_active_by_entity on repositories (entity_id, active_at);
-- The configuration names those with warm workers.
create index repositories_by_name on repositories (entity_id, lower(full_name));
create index repositories_noted on repositories (noted_at) where noted_at is not null;

-- ## Pools

-- The row with the highest version is in force.
create table pools_documents (
  version integer primary key generated always as identity,
  digest text not null,
  content jsonb not null,
  loaded_at timestamptz not null default now()
);

-- What the runner groups of pools let in, as GitHub told it last: an organisation's group decides
-- who gets a pool's runners. Provisioning writes it. To delete a row makes it look again at once.
create table runner_groups (
  demand_key bigint primary key,
  entity_id bigint not null,
  k8s_pool text not null,
  name text not null,
  -- all, private or selected repositories; null: GitHub lets us have no group of that name.
  visibility text,
  allows_public_repositories boolean,
  -- The only workflows, and the repositories of a group of selected ones. Null: any.
  workflows jsonb,
  repositories jsonb,
  -- What it lets in beyond what the pool serves.
  excess text,
  -- Until then no runner is registered there; then one tries.
  paused_until timestamptz,
  read_at timestamptz not null default now()
);

-- Which version of the runner a pool's pods had last, and when GitHub ends it.
create table pool_runner_versions (
  k8s_pool text primary key,
  version text not null,
  -- The worker whose log told it.
  pod_name text not null,
  -- Null: GitHub has set no end, or does not know the version.
  ends_at timestamptz,
  -- When GitHub was last asked for the end.
  asked_at timestamptz
);

-- ## Jobs

-- One row per workflow job of GitHub. `status` moves forward only:
--   pending -> running -> completed | failed
-- `wants_worker` is demand: GitHub calls the job queued, and none of our workers runs it.
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
  -- Questions to GitHub (E2, E3, E4): when the next is due, and when GitHub last answered.
  lookup_due_at timestamptz,
  looked_up_at timestamptz,
  -- When GitHub was first asked in vain. It counts until GitHub answers.
  unanswered_since timestamptz,
  -- Since when GitHub has not shown us the job's repository.
  hidden_since timestamptz,
  -- When GitHub last called it queued, and when it first did not know it.
  seen_queued_at timestamptz,
  seen_gone_at timestamptz,
  -- When recovery last took it on.
  recovered_at timestamptz,
  recovery_attempts integer not null default 0,
  requeues integer not null default 0,
  misjudged boolean not null default false,
  revision integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
-- New rows are vacuumed early too: the matcher counts in indexes alone only while it knows their
-- pages to be visible. The share is small, because the table is nearly all history.
) with (
  fillfactor = 85,
  autovacuum_vacuum_scale_factor = 0.005, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.005, autovacuum_vacuum_insert_threshold = 5000,
  autovacuum_analyze_scale_factor = 0.05
);

-- What the matcher counts and orders.
create index jobs_waiting on jobs (demand_key, created_at, job_id) where wants_worker;
-- What recovery and people look for among unfinished jobs.
create index jobs_active on jobs (entity_id, job_labels, created_at) where status in ('pending', 'running');
create index jobs_active_by_installation on jobs (installation_id) where status in ('pending', 'running');
-- Running jobs are compared with the ends of their workers, however many others wait.
create index jobs_running on jobs (k8s_pod) where status = 'running';
-- Entities take turns: of each the jobs due longest.
create index jobs_lookup_due_by_entity on jobs (entity_id, lookup_due_at) where lookup_due_at is not null;
-- What people are shown as stuck, and what was judged wrongly.
create index jobs_recovered on jobs (recovery_attempts)
  where recovery_attempts > 0 and status in ('pending', 'running');
create index jobs_misjudged on jobs (updated_at) where misjudged;
create index jobs_newest on jobs (created_at desc);
-- Lists of ended jobs, newest first. What else a list may ask for stands behind the id: the index
-- alone says which rows to read. A row gets its entries once, at its end. Foreign text is hashed: an
-- index refuses a text that is too long for it.
create index jobs_ended_by_entity on jobs (entity_id, created_at desc, job_id desc, k8s_pool, hashtextextended(coalesce(conclusion, ''), 0))
  where status in ('completed', 'failed');
create index jobs_ended_by_repository on jobs (repo_id, created_at desc, job_id desc, hashtextextended(coalesce(workflow_name, ''), 0),
    hashtextextended(coalesce(conclusion, ''), 0))
  where status in ('completed', 'failed');
create index jobs_ended_by_pool on jobs (k8s_pool, created_at desc, job_id desc, hashtextextended(coalesce(conclusion, ''), 0))
  where status in ('completed', 'failed');
create index jobs_ended_by_conclusion on jobs (hashtextextended(coalesce(conclusion, ''), 0), created_at desc, job_id desc)
  where status in ('completed', 'failed');

-- ## Workers

-- One row per runner; its registration, Secret and pod have its name. Never deleted. `status`:
--   pending -> running -> completed | failed
-- The row ends on its pod's evidence. The pod itself goes later.
create table workers (
  pod_name text primary key check (length(pod_name) <= 60 and pod_name ~ '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$'),
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
  -- Kept although no job waits (C10): exempt from the idle deadline, and renewed before GitHub
  -- forgets its registration.
  is_warm boolean not null default false,
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
  -- From here on its runner may be gone from GitHub, so it is no supply again. When it surely is,
  -- registration_gone_at follows.
  deregistration_started_at timestamptz,
  registration_gone_at timestamptz,
  assigned_at timestamptz,
  assigned_job_id bigint,
  stopping_at timestamptz,
  stop_reason text,
  -- What keeps it from being stopped, in a sentence.
  stop_held_by text,
  stop_held_since timestamptz,
  -- How far a stop has read the runs that wait, where only GitHub can say what runs on it.
  runs_read_from bigint,
  -- The newest reading of its runner at GitHub, and since when readings have said idle or offline.
  runner_checked_at timestamptz,
  online_seen_at timestamptz,
  idle_since timestamptz,
  offline_since timestamptz,
  unexplained_until timestamptz,
  unschedulable_at timestamptz,
  -- What keeps its pod from starting or going, in one word of a closed set (C8, P5). failure_info
  -- tells more meanwhile.
  stuck_reason text,
  stuck_at timestamptz,
  -- When the cluster means the pod to be gone.
  terminating_at timestamptz,
  -- Since when the pod is known to be gone.
  pod_gone_at timestamptz,
  secret_deleted_at timestamptz,
  pod_deleted_at timestamptz,
  running_at timestamptz,
  -- The runner's container ended while others of its pod went on. The worker ends with the last.
  runner_ended_at timestamptz,
  exit_code integer,
  completed_at timestamptz,
  revision integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((status in ('completed', 'failed')) = (completed_at is not null))
-- As for jobs.
) with (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.005, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.005, autovacuum_vacuum_insert_threshold = 5000,
  autovacuum_analyze_scale_factor = 0.05
);

-- No index has pod_uid, though people ask by it: to write down a pod would then cost an entry in
-- each index of the table.

-- What the matcher counts against caps, and the part of it that is supply: exactly that, so that it
-- counts without reading rows.
create index workers_alive on workers (demand_key) include (entity_id, scope_repo_id, k8s_pool)
  where status in ('pending', 'running');
create index workers_unassigned on workers (demand_key) include (made_for_job_id)
  where status in ('pending', 'running') and assigned_at is null and stopping_at is null
    and not (terminating_at is not null and running_at is null);
-- Those that may be past a deadline. An update of a living row moves none of its columns that other
-- indexes do not hold too. The last condition is always true: it keeps statements that look up a key
-- away from this index.
create index workers_unassigned_by_age on workers (created_at)
  where status in ('pending', 'running') and assigned_at is null and stopping_at is null and created_at is not null;
create index workers_unregistered on workers (created_at desc, pod_name)
  where status = 'pending' and registration_started_at is null;
create index workers_unschedulable on workers (k8s_pool) where unschedulable_at is not null and status = 'pending';
create index workers_active on workers (entity_id, job_labels, created_at) where status in ('pending', 'running');
create index workers_stopping on workers (stopping_at)
  where status in ('pending', 'running') and stopping_at is not null;
-- By time, so that a grace long over is never read again.
create index workers_unexplained on workers (unexplained_until) include (demand_key)
  where unexplained_until is not null and assigned_at is null;
create index workers_pod_kept on workers (completed_at) where completed_at is not null and pod_deleted_at is null;
-- The newest runner of a pool whose log can be read.
create index workers_started on workers (k8s_pool, running_at desc)
  where running_at is not null and pod_deleted_at is null;
create index workers_newest on workers (created_at desc);
-- Lists of ended workers, as those of jobs.
create index workers_ended_by_entity on workers (entity_id, created_at desc, pod_name desc, k8s_pool, status)
  where completed_at is not null;
create index workers_ended_by_pool on workers (k8s_pool, created_at desc, pod_name desc, status)
  where completed_at is not null;
create index workers_ended_by_node on workers (k8s_node, created_at desc, pod_name desc, status)
  where completed_at is not null and k8s_node is not null;
create index workers_failed on workers (created_at desc, pod_name desc)
  where completed_at is not null and status = 'failed';
-- Those that show whether GitHub still refuses us.
create index workers_registering on workers (entity_id, scope_repo_id)
  where status = 'pending' and registered_at is null and stopping_at is null;

-- ## Deliveries

-- Every accepted delivery, failed authentication and discovery: appended, never changed (A4).
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
  -- Of body, App and event: the same again under another GUID is known. Nobody signed the headers
  -- that have GUID and event.
  body_digest uuid,
  payload jsonb not null,
  payload_repaired boolean not null default false,
  received_at timestamptz not null default now()
-- Payloads are compressed, and then short enough to stay in their row. That saves two rows and an
-- index entry for each (ADR 0008).
-- Rows only come, and go by age. By default they would be vacuumed and analysed after a fifth of a
-- year's rows has changed, and the planner would know the newest day from months ago.
) with (
  toast_tuple_target = 4096,
  autovacuum_vacuum_scale_factor = 0.005, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.005, autovacuum_vacuum_insert_threshold = 5000,
  autovacuum_analyze_scale_factor = 0.005, autovacuum_analyze_threshold = 5000
);
do $$
begin
  alter table installation_events alter column payload set compression lz4;
exception when feature_not_supported then
  null; -- This server was built without lz4. Its own method takes more CPU time.
end $$;

create index installation_events_by_installation on installation_events (installation_id, entity_id);
create index installation_events_by_entity on installation_events (entity_id, received_at desc);
create index installation_events_by_delivery on installation_events (delivery_guid) where delivery_guid is not null;
create index installation_events_by_job on installation_events (job_id) where job_id is not null;
-- The rest is for events without a job: job events are most of all, and get no entry.
create index installation_events_by_body on installation_events (body_digest)
  where body_digest is not null and job_id is null;
-- Failed authentications, and deliveries that were given up.
create index installation_events_without_entity on installation_events (app_id, installation_id, received_at desc, id desc)
  where entity_id is null;
create index installation_events_of_installations on installation_events (installation_id, received_at desc, id desc)
  where event like 'installation%';
create index installation_events_given_up on installation_events (received_at desc, id desc)
  where outcome = 'redelivery_given_up';
-- Ends of jobs that no pool serves, which are compared with those of ours.
create index installation_events_unserved on installation_events (received_at)
  where event = 'workflow_job.completed'
    and outcome in ('ignored_entity', 'ignored_no_label', 'ignored_pool_closed', 'ignored_public_repository', 'refused_entity');

-- Deliveries that have not reached us, until one attempt does or GitHub can no longer repeat them.
create table unresolved_deliveries (
  app_id bigint not null,
  guid text not null,
  -- The newest attempt, and the one last requested. While they are equal, the log does not show yet
  -- what came of the request.
  delivery_id bigint not null,
  requested_delivery_id bigint,
  event text not null,
  action text,
  installation_id bigint,
  repository_id bigint,
  first_failed_at timestamptz not null,
  last_failed_at timestamptz not null,
  last_status_code integer not null,
  -- Requested until our own events have it, although GitHub calls it delivered.
  missing_here boolean not null default false,
  requests integer not null default 0,
  last_requested_at timestamptz,
  next_request_at timestamptz not null default now(),
  -- A resolved row stays for the minute in which its request counts against the App's limit.
  resolved_at timestamptz,
  primary key (app_id, guid)
);
create index unresolved_deliveries_due on unresolved_deliveries (app_id, next_request_at) where resolved_at is null;

-- ## Matching

-- What the matcher last saw of each key that is not at rest, and why it makes no more workers (P5).
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
  -- What failed before its workers had a job, since the last success. After some failures it pauses,
  -- then one worker tries (C11).
  failures integer not null default 0,
  pauses integer not null default 0,
  failure_class text,
  failure_message text,
  failing_since timestamptz,
  failed_at timestamptz,
  paused_until timestamptz,
  updated_at timestamptz not null default now(),
  check ((failures > 0) = (failure_class is not null))
);
create index demand_keys_failing on demand_keys (k8s_pool) where failures > 0;

-- The reasons that a key's jobs waited for, each with its time. The present one is in demand_keys.
create table wait_reason_changes (
  demand_key bigint not null,
  reason text not null,
  since timestamptz not null,
  until timestamptz not null
);
create index wait_reason_changes_by_key on wait_reason_changes (demand_key, until);
create index wait_reason_changes_by_age on wait_reason_changes (until);

-- ## Holding back

-- GitHub (`github`) or a cluster (as workers.cluster names it) that does not answer a probe. While a
-- row is there, no worker is made there.
create table outages (
  service text primary key,
  since timestamptz not null default now(),
  message text not null
);

-- What people hold back until they lift the switch: the making of workers everywhere, in a pool (by
-- name) or for an entity (by id) (C12); all sweeps (''), a sweep by the kind of its task, or a sweep
-- for one subject, as discover-jobs:acme/app (E6).
create table switches (
  subject_type text not null check (subject_type in ('environment', 'pool', 'entity', 'sweep')),
  subject_id text not null,
  switched_by text not null,
  since timestamptz not null default now(),
  note text,
  primary key (subject_type, subject_id),
  constraint switches_subject_id_check check (case subject_type
    when 'environment' then subject_id = ''
    when 'pool' then subject_id <> ''
    when 'entity' then subject_id ~ '^[1-9][0-9]{0,14}$'
    else subject_id ~ '^([a-z-]+(:\S+)?)?$' end)
);

-- ## The queue

-- Unfinished work only. Settling moves a row to `operations`, where people find it until it expires:
--   queued -> running -> (operations) OK | ERROR
-- Retry, snooze and recovery go back to queued.
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
  failures jsonb not null default '[]',
  queued_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  started_at timestamptz,
  locked_by text,
  -- When the claim is over, unless it is renewed.
  locked_until timestamptz,
  fence bigint not null default 0,
  check ((status = 'running') = (locked_by is not null and locked_until is not null and started_at is not null))
) with (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
  autovacuum_analyze_scale_factor = 0.05
);

-- One queued task per kind and subject. A running one may have one queued successor, and two never
-- run at once (D14). Two partial indexes, so that a claim makes one entry. The subject's id comes
-- first, because it tells most tasks apart. The running ones, as many as there are slots, are also
-- read by kind. Without locked_until, so that a heartbeat touches no index.
create unique index tasks_queued_once on tasks (subject_id, subject_type, kind) where status = 'queued';
create unique index tasks_running_once on tasks (kind, subject_id, subject_type) where status = 'running';
create index tasks_due on tasks (kind, due_at) where status = 'queued';

create table operations (
  id uuid primary key,
  kind text not null,
  subject_type text not null,
  subject_id text not null,
  subject_name text,
  -- Null: it is about more than one entity, or about none that is known.
  entity_id bigint,
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
  -- Who had a failed one repeated, as the operation `retried_as`, or discarded it.
  handled_by text,
  handled_at timestamptz,
  retried_as uuid,
  check ((status = 'ERROR') = (failure_reason is not null))
);
create index operations_by_subject on operations (subject_id, subject_type, finished_at desc, id desc);
create index operations_by_entity on operations (entity_id, queued_at desc, id desc) where entity_id is not null;
create index operations_by_kind on operations (kind, status, finished_at desc, id desc);
create index operations_expiring on operations (expires_at);
create index operations_by_reason on operations (failure_reason, finished_at desc, id desc) where status = 'ERROR';
create index operations_failed on operations (finished_at desc, id desc) where status = 'ERROR';

-- How many ended, how, in which hour. Each settling statement appends a row, so that no two settles
-- share one (F3); a sweep rolls them up.
create table task_counts (
  hour timestamptz not null,
  kind text not null,
  outcome text not null check (outcome in ('OK', 'ERROR')),
  failure_reason text,
  ended bigint not null
);
create index task_counts_by_hour on task_counts (hour, kind);

-- ## Sweeps, and work of one replica

-- What only one replica may do, for eight seconds at a time. `fence` rises with every new holder.
create table leases (
  name text primary key,
  holder text not null,
  fence bigint not null,
  expires_at timestamptz not null
);

-- When each sweep last ran.
create table schedules (
  name text primary key,
  -- The newest nominal tick that a replica took.
  last_tick_at timestamptz not null,
  -- When a pass last ended well: a sweep that only fails would stop its recovery in silence.
  succeeded_at timestamptz not null default now(),
  -- What a pass leaves for the next one.
  last_pass jsonb not null default '{}',
  -- When a pass beside the ticks is wanted; null: none is. Until when more follow, or when the last
  -- one was taken, and since when they have been wanted without a rest.
  extra_at timestamptz,
  extra_until timestamptz,
  extra_since timestamptz
);

-- ## People

-- Bearer tokens. `id` stands in the token and finds the row; of the secret there is only the hash. A
-- revoked token stays, because its name stands in the rows that say who did what.
create table tokens (
  id text primary key check (id ~ '^[0-9a-f]{16}$'),
  name text not null unique check (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  secret_sha256 text not null check (secret_sha256 ~ '^[0-9a-f]{64}$'),
  access text not null check (access in ('read', 'operate')),
  -- A narrowed token calls only this endpoint, and only for the subject: values of its path, as
  -- {"job": 7}.
  endpoint text,
  subject jsonb,
  -- Begins one session, and proves nothing else.
  one_time boolean not null default false,
  created_by text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_by text,
  revoked_at timestamptz,
  check ((endpoint is null) = (subject is null)),
  check ((revoked_by is null) = (revoked_at is null))
);

-- People who signed in to the page. `id` stands in the cookie and finds the row; of the secret there
-- is only the hash. A session may do what its token may, and no longer: each request reads both rows.
create table sessions (
  id text primary key check (id ~ '^[0-9a-f]{16}$'),
  token_id text references tokens (id),
  -- A person for whom an identity provider vouches has no token. The console's settings say what
  -- their groups may do.
  person text,
  groups jsonb,
  secret_sha256 text not null check (secret_sha256 ~ '^[0-9a-f]{64}$'),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint sessions_token_or_person check ((token_id is null) = (person is not null) and (person is null) = (groups is null))
);
create index sessions_by_token on sessions (token_id, created_at);
create index sessions_by_person on sessions (person, created_at) where person is not null;
create index sessions_by_expiry on sessions (expires_at);

-- One row per action of a person, written in the action's transaction and never changed. People act
-- seldom, so the rows stay for good.
create table actions (
  id bigint generated always as identity primary key,
  person text not null,
  acted_at timestamptz not null default now(),
  came_from text not null check (came_from in ('terminal', 'api')),
  endpoint text not null,
  subject jsonb not null check (jsonb_typeof(subject) = 'object'),
  -- As of an operation.
  entity_id bigint,
  note text,
  -- The operation that the action asked for; several actions may ask for one.
  operation uuid
);
create index actions_by_entity on actions (entity_id, acted_at desc, id desc) where entity_id is not null;
create index actions_by_operation on actions (operation) where operation is not null;

-- What jobs and workers used, summed up by a sweep, so that a question about a month reads no jobs.
-- By the hour in which a job was stored or, for a worker without a job, reserved. Jobs of an hour
-- that have all but their waiting times in common share a row, as those of a run mostly do.
create table usage_hours (
  hour timestamptz not null,
  entity_id bigint not null,
  -- 0: no job.
  repo_id bigint not null,
  repo_full_name text,
  -- Empty: no job, or none that GitHub names.
  workflow_name text not null,
  k8s_pool text not null,
  -- How long each job that started was queued, sorted, in seconds, rounded to two digits from 100
  -- on. Null: none of them started.
  queued integer[],
  jobs integer not null,
  workers integer not null,
  -- Times of pods that ended, in milliseconds: from start to end; without a job; of workers that failed.
  pod_ms bigint not null,
  idle_ms bigint not null,
  thrown_away_ms bigint not null,
  -- Jobs and workers that had not ended: the hour is summed up again.
  unended integer not null default 0,
  summed_at timestamptz not null default now()
);
create index usage_hours_by_time on usage_hours (hour);
create index usage_hours_by_repository on usage_hours (repo_id, hour desc);
create index usage_hours_unended on usage_hours (hour) where unended > 0;

-- ## What follows a change

-- Every UPDATE of a job or worker moves updated_at and raises revision, the fence that recovery checks.
create function touch_row() returns trigger language plpgsql as $$
begin
  new.updated_at := now();
  new.revision := old.revision + 1;
  return new;
end $$;
create trigger jobs_touch before update on jobs for each row execute function touch_row();
create trigger workers_touch before update on workers for each row execute function touch_row();

-- `{schema}_queue_event` wakes the matcher: a hint only, delivered on commit, one per table and transaction (A7).
create function notify_queue_event() returns trigger language plpgsql as $$
begin
  perform pg_notify(tg_table_schema || '_queue_event', tg_table_name);
  return null;
end $$;
create trigger pools_documents_inserted after insert on pools_documents
  for each statement execute function notify_queue_event();
create trigger switches_changed after insert or delete on switches
  for each statement execute function notify_queue_event();
create trigger outages_changed after insert or delete on outages
  for each statement execute function notify_queue_event();
-- A person has decided anew.
create trigger login_pins_changed after update or delete on login_pins
  for each statement execute function notify_queue_event();
create trigger runner_groups_changed after update or delete on runner_groups
  for each statement execute function notify_queue_event();
-- A success frees the key, and a pause gives its reservations back: the matcher acts on both.
create trigger demand_keys_failing after update of failures on demand_keys for each row
  when ((old.failures > 0 and new.failures = 0) or new.pauses > old.pauses) execute function notify_queue_event();

create function notify_new_demand() returns trigger language plpgsql as $$
begin
  if exists (select from new_rows where wants_worker) then
    perform pg_notify(tg_table_schema || '_queue_event', 'jobs');
  end if;
  return null;
end $$;
create trigger jobs_inserted after insert on jobs
  referencing new table as new_rows for each statement execute function notify_new_demand();

-- For each row: to join the rows of one statement before and after, PostgreSQL would compare each with all others.
-- A waiting job that moves to another pool is demand there.
create trigger jobs_updated after update on jobs for each row
  when (new.wants_worker <> old.wants_worker or (new.wants_worker and new.demand_key <> old.demand_key)) execute function notify_queue_event();
create trigger workers_updated after update on workers for each row
  when ((new.completed_at is not null and old.completed_at is null) or (new.unschedulable_at is null and old.unschedulable_at is not null))
  execute function notify_queue_event();

-- `{schema}_task_event` wakes the processes that run the kind, its payload (D3).
create function notify_task_event() returns trigger language plpgsql as $$
begin
  perform pg_notify(tg_table_schema || '_task_event', due.kind) from (select distinct kind from new_rows where due_at <= now()) due;
  return null;
end $$;
create trigger tasks_inserted after insert on tasks
  referencing new table as new_rows for each statement execute function notify_task_event();

-- News of an entity, or of repositories: ends what GitHub refused there, and wakes the matcher.
create function end_refusals(of_entity bigint, of_repositories bigint[]) returns void language plpgsql as $$
begin
  update repositories set refused_since = null, refused_until = null, refused_reason = null, refused_message = null
  where repo_id in (
    select repo_id from repositories
    where refused_since is not null and (entity_id = of_entity or repo_id = any(of_repositories))
    order by repo_id for update);
  if found then
    perform pg_notify(current_schema() || '_queue_event', 'repositories');
  end if;
  update demand_keys set failures = 0, pauses = 0, failure_class = null, failure_message = null, failed_at = null,
    failing_since = null, paused_until = null
  where demand_key in (
    select demand_key from demand_keys
    where failures > 0 and failure_class = 'github_refused' and (entity_id = of_entity or scope_repo_id = any(of_repositories))
    order by demand_key for no key update);
end $$;

-- GitHub says something new of an installation: what it refused there before says nothing now. What
-- it asked to wait for stays.
create function note_news_of_installation() returns trigger language plpgsql as $$
begin
  perform end_refusals(new.entity_id, '{}');
  if tg_op = 'UPDATE' and new.installation_id <> old.installation_id then
    new.registrations_left := null;
    new.registrations_reset_at := null;
  end if;
  new.refused_since := null;
  new.refused_until := null;
  new.refused_reason := null;
  new.refused_message := null;
  perform pg_notify(tg_table_schema || '_queue_event', tg_table_name);
  return new;
end $$;
create trigger installations_news before update of updated_at on installations
  for each row execute function note_news_of_installation();
-- Not before: an insert that finds a row, and does not change it, is no news.
create trigger installations_new after insert on installations
  for each row execute function note_news_of_installation();

-- These run with the owner's rights: ingress writes installations, but may not write repositories.
-- Their search path is fixed, so that no table of a caller takes the place of ours.
do $$
declare
  done_for_others text;
begin
  foreach done_for_others in array array['note_news_of_installation()', 'end_refusals(bigint, bigint[])'] loop
    execute format('alter function %1$I.%2$s security definer set search_path = %1$I, pg_temp', current_schema(), done_for_others);
  end loop;
end $$;

create function keep_former_login() returns trigger language plpgsql as $$
begin
  new.former_logins := old.former_logins || jsonb_build_object(old.login, now());
  return new;
end $$;
create trigger installations_renamed before update of login on installations for each row
  when (lower(old.login) <> lower(new.login)) execute function keep_former_login();

-- The entity to which a login in lower case is pinned; without a pin, this one gets it. Each query
-- here sees what was committed before it began, so that two entities at once get the same answer.
create function pin_login(named text, account bigint) returns bigint language plpgsql as $$
declare
  owner bigint;
begin
  loop
    select entity_id into owner from login_pins where login = named;
    if found then
      return owner;
    end if;
    insert into login_pins (login, entity_id) values (named, account) on conflict do nothing;
  end loop;
end $$;

-- Ends a statement that has not written all that it was given, so that nothing of it is kept.
create function must_be_whole(is_whole boolean) returns void language plpgsql as $$
begin
  if not is_whole then
    raise serialization_failure using message = 'a job has changed since it was read';
  end if;
end $$;

-- Pins the logins that the pools in force name to the only entity that is known to have them.
create function pin_known_logins() returns void language sql as $$
  with document as (select content from pools_documents order by version desc limit 1)
  insert into login_pins (login, entity_id)
  select lower(login), min(entity_id) from installations
  where deleted_at is null and lower(login) in (
    select lower(key) from document, jsonb_object_keys(content -> 'entities') key
    union
    select lower(split_part(one, '/', 1)) from document, jsonb_array_elements(content -> 'pools') pool,
      jsonb_array_elements_text(coalesce(pool -> 'entities', '[]') || coalesce(pool -> 'repositories', '[]')) one)
  group by lower(login) having count(distinct entity_id) = 1
  order by lower(login)
  on conflict do nothing
$$;

-- The entity of a subject; null: it has more than one, or none that is known.
create function entity_of(subject_type text, subject_id text) returns bigint language plpgsql stable as $$
begin
  case subject_type
    when 'worker' then
      return (select w.entity_id from workers w where w.pod_name = subject_id);
    when 'job' then
      return (select j.entity_id from jobs j where subject_id ~ '^\d{1,18}$' and j.job_id = subject_id::bigint);
    when 'key' then
      return (select d.entity_id from demand_keys d where subject_id ~ '^\d{1,18}$' and d.demand_key = subject_id::bigint);
    when 'installation' then
      return (select i.entity_id from installations i where subject_id ~ '^\d{1,18}$' and i.installation_id = subject_id::bigint limit 1);
    when 'repository' then
      return (select i.entity_id from installations i where lower(i.login) = lower(split_part(subject_id, '/', 1))
        order by i.deleted_at desc nulls first, i.updated_at desc limit 1);
    when 'entity' then
      return case when subject_id ~ '^\d{1,18}$' then subject_id::bigint end;
    else
      return null;
  end case;
end $$;

create function note_entity_of_operation() returns trigger language plpgsql as $$
begin
  new.entity_id = entity_of(new.subject_type, new.subject_id);
  return new;
end $$;
create trigger operations_entity before insert on operations for each row
  when (new.subject_type in ('worker', 'key', 'repository', 'installation')) execute function note_entity_of_operation();

-- A subject names what it is, as {"worker": NAME}. One that may be of several kinds is {"subject": "entity:1"}.
create function note_entity_of_action() returns trigger language plpgsql as $$
begin
  new.entity_id = (
    select max(entity_of(named.type, named.id)) from (
      select key as type, value as id from jsonb_each_text(new.subject)
      union all
      select split_part(value, ':', 1), split_part(value, ':', 2) from jsonb_each_text(new.subject) where key = 'subject'
    ) named);
  return new;
end $$;
create trigger actions_entity before insert on actions for each row execute function note_entity_of_action();
