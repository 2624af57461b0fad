-- What the reconciler knows of GitHub's log of deliveries (E1).

-- One row per stretch of an App's delivery log that was listed, newest first. A stretch whose listing broke off keeps the cursor from
-- which it goes on; where two stretches meet they become one.
create table delivery_listings (
  id bigint primary key generated always as identity,
  app_id bigint not null,
  newest_at timestamptz not null,
  oldest_at timestamptz not null,
  cursor text,
  listed_at timestamptz not null default now()
);
create index delivery_listings_by_app on delivery_listings (app_id, newest_at desc);

-- Deliveries that no attempt has got through to us, until one does or GitHub can no longer repeat them. `delivery_id` is the newest attempt,
-- `requested_delivery_id` the one last asked for: while they are equal, the log has not shown yet what came of it. A resolved row stays for
-- the minute in which its request counts against the App's limit.
create table unresolved_deliveries (
  app_id bigint not null,
  guid text not null,
  delivery_id bigint not null,
  event text not null,
  action text,
  installation_id bigint,
  repository_id bigint,
  first_failed_at timestamptz not null,
  last_failed_at timestamptz not null,
  last_status_code integer not null,
  requests integer not null default 0,
  last_requested_at timestamptz,
  requested_delivery_id bigint,
  next_request_at timestamptz not null default now(),
  resolved_at timestamptz,
  primary key (app_id, guid)
);
create index unresolved_deliveries_due on unresolved_deliveries (app_id, next_request_at) where resolved_at is null;
