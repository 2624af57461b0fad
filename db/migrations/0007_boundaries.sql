-- What keeps one account, pod, server or row from holding up the others. Services of the version before work beside all of it.

-- When GitHub was first asked about a job in vain. It counts only while GitHub has not answered since (`looked_up_at`).
alter table jobs add column unanswered_since timestamptz;

-- When the runner's container was seen to have ended while others of its pod went on: until they end, the worker does not.
alter table workers add column runner_ended_at timestamptz;

-- When a pass of each sweep last ended well: a sweep that only fails would stop the recovery it is for in silence.
alter table schedules add column succeeded_at timestamptz not null default now();

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

-- People write these rows. A login where an account's id belongs used to end every pass of the matcher: it becomes the id, where the account is
-- known. What is left stays and stops nobody; only new rows are checked.
insert into stopped_making (subject_type, subject_id, stopped_by, stopped_at)
  select 'entity', account.entity_id::text, stopped.stopped_by, stopped.stopped_at
  from stopped_making stopped join installations account on lower(account.login) = lower(stopped.subject_id)
  where stopped.subject_type = 'entity' and stopped.subject_id !~ '^[1-9][0-9]{0,14}$'
  on conflict (subject_type, subject_id) do nothing;
delete from stopped_making stopped using installations account
  where stopped.subject_type = 'entity' and stopped.subject_id !~ '^[1-9][0-9]{0,14}$' and lower(account.login) = lower(stopped.subject_id);
alter table stopped_making add constraint stopped_making_entity_is_an_id
  check (subject_type <> 'entity' or subject_id ~ '^[1-9][0-9]{0,14}$') not valid;
