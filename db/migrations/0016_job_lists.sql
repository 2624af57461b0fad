-- Indexes only: services work without them, slower.

-- The lists of ended jobs, newest first within each value of the columns before. A row gets its entries once, at its end.
-- Only hashes of foreign text stand in them: an index refuses a row with a longer text than it can hold.
create index jobs_ended_by_pool on jobs (k8s_pool, hashtextextended(coalesce(conclusion, ''), 0), created_at desc, job_id desc)
  where status in ('completed', 'failed');
create index jobs_ended_by_entity on jobs (entity_id, k8s_pool, hashtextextended(coalesce(conclusion, ''), 0), created_at desc, job_id desc)
  where status in ('completed', 'failed');
create index jobs_ended_by_repository on jobs (repo_id, hashtextextended(coalesce(workflow_name, ''), 0),
    hashtextextended(coalesce(conclusion, ''), 0), created_at desc, job_id desc)
  where status in ('completed', 'failed');
