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
