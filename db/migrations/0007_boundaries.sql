-- What keeps one account, pod, server or row from holding up the others. Services of the version before work beside all of it.

-- When GitHub was first asked about a job in vain. It counts only while GitHub has not answered since (`looked_up_at`).
alter table jobs add column unanswered_since timestamptz;

-- When the runner's container was seen to have ended while others of its pod went on: until they end, the worker does not.
alter table workers add column runner_ended_at timestamptz;

-- What GitHub refuses an App as a whole is a row of `breakers` too, beside what it refuses of an account or a repository.
alter table breakers drop constraint breakers_subject_type_check;
alter table breakers add constraint breakers_subject_type_check
  check (subject_type in ('pool', 'app', 'installation', 'repository', 'github', 'cluster'));

-- The version of the runner that a pool's pods were last seen to run, as a runner's own log told it, and when GitHub ends it.
create table pool_runner_versions (
  k8s_pool text primary key,
  version text not null,
  -- The worker whose log it was.
  pod_name text not null,
  -- Null: GitHub has set no end, or does not know the version.
  ends_at timestamptz,
  -- When GitHub was last asked for the end.
  asked_at timestamptz
);
