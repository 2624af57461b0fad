-- What the ending, the keeping and the finding of workers and jobs has to remember. Columns, tables and functions; the indexes that only
-- make it fast come with the next migration, so that services work on either (A10).

-- What the ending of workers has to remember (A3, E5).
alter table workers
  -- Since when its pod is known to be gone from the cluster.
  add column pod_gone_at timestamptz,
  -- The newest reading of its runner at GitHub, and what readings have said without a break: idle, offline.
  add column runner_checked_at timestamptz,
  add column online_seen_at timestamptz,
  add column idle_since timestamptz,
  add column offline_since timestamptz,
  -- From here on its runner may be gone from GitHub: it is not to be taken back into supply. registration_gone_at follows.
  add column deregistration_started_at timestamptz,
  -- What keeps the worker from being stopped, in a sentence.
  add column stop_held_by text,
  add column stop_held_since timestamptz;

-- Workers that are kept idle (C10), and keys to whose idle workers GitHub gives no job (C11).

-- Kept although no job waits: exempt from the idle deadline, and renewed before GitHub forgets its registration.
alter table workers add column is_warm boolean not null default false;

-- The repositories that the configuration keeps workers for, found by a job of theirs: the configuration has names only. The matcher
-- writes a row once, so a repository without jobs just now is still known.
create table warm_repositories (
  full_name text primary key check (full_name = lower(full_name)),
  entity_id bigint not null,
  repo_id bigint not null,
  found_at timestamptz not null default now()
);

-- Keys whose worker was idle past its deadline while a job of the key waited. `rounds` counts the workers in a row that fared so, after the
-- first was replaced; from one on no more are made until `paused_until`, then one on trial. The row goes when a worker of the key has a job.
create table unserved_keys (
  demand_key bigint primary key,
  entity_id bigint not null,
  scope_repo_id bigint not null,
  k8s_pool text not null,
  rounds integer not null default 0,
  worker_created_at timestamptz not null,
  noted_at timestamptz not null default now(),
  paused_until timestamptz,
  -- What GitHub says of the runner group's access, in a sentence.
  access text
);

-- A waiting job that goes to another pool is demand there.
create or replace function notify_demand_changed() returns trigger language plpgsql as $$
begin
  if exists (
    select from new_rows n join old_rows o using (job_id)
    where n.wants_worker <> o.wants_worker or (n.wants_worker and n.demand_key <> o.demand_key)
  ) then
    perform pg_notify(tg_table_schema || '_queue_event', 'jobs');
  end if;
  return null;
end $$;

-- What the reconciler remembers of its questions to GitHub (E2, E3, E4).

-- When GitHub last answered for the job, when it first did not know it, and when recovery last took it on.
alter table jobs add column looked_up_at timestamptz;
alter table jobs add column seen_gone_at timestamptz;
alter table jobs add column recovered_at timestamptz;

-- Repositories that had runs lately, with the name last heard of. Written by the reconciler alone: no delivery pays for it. `due_at` says when discovery looks at the
-- repository next, and who is due longest comes first; `etags` are those of its lists of runs, by the runs' status; `noted_at` says up
-- to when jobs were looked through for active repositories.
create table repositories (
  repo_id bigint primary key,
  entity_id bigint not null,
  app_id bigint not null,
  full_name text,
  active_at timestamptz not null,
  noted_at timestamptz,
  due_at timestamptz not null default now(),
  looked_at timestamptz,
  etags jsonb not null default '{}'
);

-- When the repositories of an installation were last listed; before its newest change: they are to be listed now.
alter table installations add column listed_at timestamptz;

-- To be asked for until our own events have them, although GitHub calls them delivered.
alter table unresolved_deliveries add column missing_here boolean not null default false;

-- What the reconciler's sweeps are told, and what they remember between two passes.

-- Sweeps that do nothing until their row goes, by the kind of their task; `*` is all of them. Looked up right before each pass.
create table paused_sweeps (
  name text primary key check (name ~ '^(\*|[a-z-]+)$'),
  paused_by text not null,
  paused_at timestamptz not null default now()
);

-- Registrations at GitHub that bear our name and have no worker here, and are offline: as a restored database does not know the last ones
-- (E6). A row goes when the registration is gone, online or known again, so `sightings` counts those in a row.
create table stray_registrations (
  entity_id bigint not null,
  scope_repo_id bigint not null,
  runner_id bigint not null,
  name text not null,
  sightings integer not null default 1,
  first_seen_at timestamptz not null default now(),
  primary key (entity_id, scope_repo_id, runner_id)
);

-- How far retention has come in a table that is only appended to: rows up to this id have been removed, or are kept for ever (E7).
create table retention_progress (
  name text primary key,
  reached_id bigint not null
);

-- Pods that do not start or do not go (C8, P5): what keeps one, in one of a closed set of words, and since when. While it does, failure_info
-- tells more of it. `terminating_at` is when the cluster means the pod to be gone.
alter table workers add column stuck_reason text, add column stuck_at timestamptz, add column terminating_at timestamptz;

-- What GitHub refuses for one repository holds back that repository alone (C11).
alter table breakers drop constraint breakers_subject_type_check,
  add constraint breakers_subject_type_check check (subject_type in ('pool', 'installation', 'repository', 'github', 'cluster'));

-- GitHub has said that an installation works again, or does not any more. What was refused before it was given back says nothing now, except
-- for how long GitHub asked to be left alone.
create function note_installation_usable() returns trigger language plpgsql as $$
begin
  if new.suspended_at is null and new.deleted_at is null then
    delete from breakers
    where subject_type = 'installation' and subject_id = new.entity_id::text and failure_class <> 'rate_limited';
  end if;
  perform pg_notify(tg_table_schema || '_queue_event', tg_table_name);
  return null;
end $$;
create trigger installations_usable after update on installations for each row
  when ((old.suspended_at is null and old.deleted_at is null) <> (new.suspended_at is null and new.deleted_at is null))
  execute function note_installation_usable();

-- For how long GitHub asked an App to repeat no deliveries (E1). A time that is over says nothing.
create table redelivery_pauses (
  app_id bigint primary key,
  paused_until timestamptz not null
);
