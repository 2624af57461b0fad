-- Indexes and storage settings only: services work without them, slower.

-- Every repository of an installation has a row now: those that are active are few among them.
create index repositories_active on repositories (active_at);
create index repositories_noted on repositories (noted_at) where noted_at is not null;

-- Events only come, and go in order after their time. By default they would be vacuumed and analysed after a fifth of a year's rows has
-- changed, so that whoever plans a statement knows the newest day from a histogram of months ago.
alter table installation_events set (
  autovacuum_vacuum_scale_factor = 0.005, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.005, autovacuum_vacuum_insert_threshold = 5000,
  autovacuum_analyze_scale_factor = 0.005, autovacuum_analyze_threshold = 5000
);

-- The newest runner of a pool whose log can be read.
create index workers_started on workers (k8s_pool, running_at desc) where running_at is not null and pod_deleted_at is null;
