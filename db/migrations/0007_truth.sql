-- What the reconciler remembers of its questions to GitHub (E2, E3, E4).

-- When GitHub last answered for the job, when it first did not know it, and when recovery last took it on.
alter table jobs add column looked_up_at timestamptz;
alter table jobs add column seen_gone_at timestamptz;
alter table jobs add column recovered_at timestamptz;
-- Running jobs are compared with the ends of their workers, however many others wait.
create index jobs_running on jobs (k8s_pod) where status = 'running';
-- What people are shown as stuck, and what was judged wrongly.
create index jobs_recovered on jobs (recovery_attempts) where recovery_attempts > 0 and status in ('pending', 'running');
create index jobs_misjudged on jobs (updated_at) where misjudged;

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
create index repositories_due on repositories (due_at);

-- When the repositories of an installation were last listed; before its newest change: they are to be listed now.
alter table installations add column listed_at timestamptz;

-- To be asked for until our own events have them, although GitHub calls them delivered.
alter table unresolved_deliveries add column missing_here boolean not null default false;
