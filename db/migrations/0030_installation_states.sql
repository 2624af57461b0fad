-- What an installation was at a time, and what GitHub could not deliver. Additive.

-- A job's event gets an entry in neither.
create index installation_events_of_installations on installation_events (installation_id, received_at desc, id desc)
  where event like 'installation%';
create index installation_events_given_up on installation_events (received_at desc, id desc)
  where outcome = 'redelivery_given_up';

-- As before, and the installation.
create or replace function entity_of(subject_type text, subject_id text) returns bigint language plpgsql stable as $$
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
drop trigger operations_entity on operations;
create trigger operations_entity before insert on operations for each row
  when (new.subject_type in ('worker', 'key', 'repository', 'installation')) execute function note_entity_of_operation();
