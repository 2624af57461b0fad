-- What GitHub refuses for one repository holds back that repository alone (C11).
alter table breakers drop constraint breakers_subject_type_check,
  add constraint breakers_subject_type_check check (subject_type in ('pool', 'installation', 'repository', 'github', 'cluster'));

-- Accounts where the App is suspended or gone: no worker is made for them (P5).
create index installations_unusable on installations (entity_id) where suspended_at is not null or deleted_at is not null;

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
