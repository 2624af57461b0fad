-- Indexes only: services work without them, slower.

-- The lists of ended workers, newest first within each value of the columns before.
create index workers_ended_by_pool on workers (k8s_pool, status, created_at desc, pod_name desc) where completed_at is not null;
create index workers_ended_by_entity on workers (entity_id, k8s_pool, status, created_at desc, pod_name desc) where completed_at is not null;
