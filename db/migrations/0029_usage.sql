-- What jobs and workers used, summed up by a sweep, so that a question about a month reads no rows of jobs. Additive.

-- By the hour in which a job was stored or, for a worker without a job, reserved. Times are of pods that ended, in milliseconds.
create table usage_hours (
  hour timestamptz not null,
  entity_id bigint not null,
  -- 0: no job.
  repo_id bigint not null,
  repo_full_name text,
  -- Empty: no job, or none that GitHub names.
  workflow_name text not null,
  k8s_pool text not null,
  -- How long the jobs were queued, in seconds, rounded to two digits from 100 on. Null: they never started.
  queued_seconds integer,
  jobs integer not null,
  workers integer not null,
  -- From the pod's start to its end.
  pod_ms bigint not null,
  -- Of it, when no job ran; and all of it, if the worker failed.
  idle_ms bigint not null,
  thrown_away_ms bigint not null
);
create index usage_hours_by_time on usage_hours (hour);
create index usage_hours_by_repository on usage_hours (repo_id, hour desc);

-- The hours that were summed up, when, and how many of their jobs and workers had not ended.
create table usage_summed (
  hour timestamptz primary key,
  unended integer not null,
  summed_at timestamptz not null default now()
);
