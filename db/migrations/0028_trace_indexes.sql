-- Indexes only: services work without them, slower.

-- The events of an App, or of one of its installations, that name no entity: its failed authentications and the deliveries
-- that were given up. A job's event has an entity, so that it gets no entry.
create index installation_events_without_entity on installation_events (app_id, installation_id, received_at desc, id desc)
  where entity_id is null;

create index operations_by_entity on operations (entity_id, queued_at desc, id desc) where entity_id is not null;
create index actions_by_entity on actions (entity_id, acted_at desc, id desc) where entity_id is not null;

create index former_logins_by_login on former_logins (lower(login), left_at desc);
