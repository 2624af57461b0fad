-- What services need so that nobody gets further than their own jobs. Additive: services of the version before go on beside it.

-- Which account bore a login of `entities` first (names are no identities): another one under that login is refused until a person changes the
-- row. Paddock adds rows and never changes or deletes one, so a pin outlives the account's jobs and its installation.
create table login_pins (
  login text primary key check (login = lower(login)),
  entity_id bigint not null,
  pinned_at timestamptz not null default now()
);

-- A person has decided anew: matchers read it at once.
create trigger login_pins_changed after update or delete on login_pins for each statement execute function notify_queue_event();

-- The account to which a login in lower case is pinned; to none yet, it is pinned to this one. Each query here sees what was committed before
-- it began, so that of two accounts at one instant both are told the same one.
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

-- Pins the logins that the pools document in force names, for all pools or for one, to the only account of which it is known that it bears them.
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

select pin_known_logins();

-- Whose failures a pool's breaker counts, one entry for each, and of which workers: what turns out to have been a job is taken back. Null:
-- what it counts is surely the pool's own. The breaker of one account in a pool has the subject POOL@ACCOUNT.
alter table breakers add column entities bigint[], add column workers text[];

-- Replays. A delivery's GUID and event are headers that nobody signed; the body is what GitHub said. So each event keeps a digest of its body, the App and the
-- event by which the body was read: the same again under another GUID is known. Events stored before have none.
alter table installation_events add column body_digest uuid;

-- What the runner groups let in that pools register in, as GitHub told it last (an organisation's group decides who gets a pool's runners), and
-- why none is registered there, if so. Provisioning writes it; deleting a row makes it look again at once.
create table runner_groups (
  demand_key bigint primary key,
  entity_id bigint not null,
  k8s_pool text not null,
  name text not null,
  -- all, private or selected repositories; null where GitHub lets us have no group of that name.
  visibility text,
  allows_public_repositories boolean,
  -- Null: any. Else the only ones: workflows, and the repositories of a group of selected ones.
  workflows jsonb,
  repositories jsonb,
  -- What it lets in beyond what the pool serves.
  excess text,
  -- No runner is registered there until then, nor after it but one that tries.
  paused_until timestamptz,
  read_at timestamptz not null default now()
);

create trigger runner_groups_changed after update or delete on runner_groups for each statement execute function notify_queue_event();

-- As of when GitHub said the login that is known, where a delivery about something else has told it last. What was said before that, and is heard
-- again or late, turns no name back.
alter table installations add column login_stated_at timestamptz;

-- As of when GitHub said a repository's name and owner. Its activity is another matter: a job that comes now may have been queued days ago. Null: as
-- of its last activity.
alter table repositories add column named_at timestamptz;

-- Takes back what breakers of pools have counted of these workers, as far as they are known to have had a job, and wakes what that held. Of
-- what is left a breaker stays open only for as many pauses as it would have had without them, and the next trial is due at once.
create function take_back_failures(pods text[]) returns void language sql as $$
  with bound as materialized (
    select array_agg(pod_name) as pods from workers where pod_name = any(take_back_failures.pods) and assigned_job_id is not null
  ),
  counted as materialized (
    select b.subject_type, b.subject_id, b.failure_class, b.pauses > 0 as was_open, b.failures, left_over.entities, left_over.workers,
      -- The first pause began with the last of the failures that it takes, and each further one began another.
      case when b.subject_id like '%@%' or left_over.accounts > 1 then greatest(0, b.pauses - taken) else 0 end as pauses, taken
    from breakers b cross join bound
    cross join lateral (
      select array_agg(entity_id order by place) as entities, array_agg(worker order by place) as workers, count(distinct entity_id) as accounts,
        cardinality(b.workers) - count(worker) as taken
      from unnest(b.entities, b.workers) with ordinality as one(entity_id, worker, place)
      where worker <> all(bound.pods)
    ) left_over
    where b.subject_type = 'pool' and b.workers && bound.pods
    order by b.subject_type, b.subject_id, b.failure_class for update of b
  ),
  remaining as materialized (
    select *, case when pauses > 0 then 0 when was_open then coalesce(cardinality(workers), 0) else greatest(0, failures - taken) end as counts
    from counted
  ),
  closed as (
    delete from breakers b using remaining r
    where (b.subject_type, b.subject_id, b.failure_class) = (r.subject_type, r.subject_id, r.failure_class) and r.pauses = 0 and r.counts = 0
  )
  update breakers b
  set failures = r.counts, pauses = r.pauses, entities = r.entities, workers = r.workers, trial_until = null,
    opened_at = case when r.pauses > 0 then b.opened_at end, paused_until = case when r.pauses > 0 then least(b.paused_until, now()) end
  from remaining r
  where (b.subject_type, b.subject_id, b.failure_class) = (r.subject_type, r.subject_id, r.failure_class) and (r.pauses > 0 or r.counts > 0)
$$;

-- What follows from a bound worker, and from a change of an installation or of a breaker, is done with the owner's rights: ingress, which states
-- both, may write neither breakers nor tasks by itself. The search path is fixed, so that no table of a caller's own takes the place of ours, and so that a
-- person who writes schema.table need not set one.
do $$
declare
  done_for_others text;
begin
  foreach done_for_others in array array['note_installation_usable()', 'let_held_tasks_go()', 'take_back_failures(text[])'] loop
    execute format('alter function %1$I.%2$s security definer set search_path = %1$I, pg_temp', current_schema(), done_for_others);
  end loop;
end $$;
