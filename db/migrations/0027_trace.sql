-- Of which entity a row is, for the trace. Additive: services of the version before leave that to the triggers.

-- The logins that an entity had before. A login may since belong to another entity.
create table former_logins (
  login text not null,
  entity_id bigint not null,
  left_at timestamptz not null default now(),
  primary key (entity_id, login)
);

create function keep_former_login() returns trigger language plpgsql as $$
begin
  insert into former_logins (login, entity_id) values (left(old.login, 100), old.entity_id)
  on conflict (entity_id, login) do update set left_at = excluded.left_at;
  return null;
end $$;
create trigger installations_renamed after update of login on installations for each row
  when (lower(old.login) <> lower(new.login)) execute function keep_former_login();

-- Those of before, as far as the rows still say.
insert into former_logins (login, entity_id, left_at)
select named.login, named.entity_id, max(named.at) from (
  select left(entity_name, 100) as login, entity_id, received_at as at from installation_events
  union all
  select left(entity_name, 100), entity_id, created_at from jobs
) named
where named.login is not null and named.entity_id is not null
  and not exists (select from installations i where i.entity_id = named.entity_id and lower(i.login) = lower(named.login))
  and exists (select from installations i where i.entity_id = named.entity_id)
group by named.login, named.entity_id;

-- The entity of an operation or an action; null: it is about more than one, or about none that is known.
alter table operations add column entity_id bigint;
alter table actions add column entity_id bigint;

create function entity_of(subject_type text, subject_id text) returns bigint language plpgsql stable as $$
begin
  case subject_type
    when 'worker' then
      return (select w.entity_id from workers w where w.pod_name = subject_id);
    when 'job' then
      return (select j.entity_id from jobs j where subject_id ~ '^\d{1,18}$' and j.job_id = subject_id::bigint);
    when 'key' then
      return (select d.entity_id from demand_keys d where subject_id ~ '^\d{1,18}$' and d.demand_key = subject_id::bigint);
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
  when (new.subject_type in ('worker', 'key', 'repository')) execute function note_entity_of_operation();

-- A subject names what it is, as {"worker": NAME}; one that may be of several kinds names it as {"subject": "entity:1"}.
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
