-- Indexes of what the migration before has made: without them services are slower, and do the same.

-- Those that may be past a deadline: unassigned for longer than the shortest one. None of its columns is ever updated in a living row but
-- those that other indexes hold too.
-- The last condition says nothing but keeps the index to those who compare created_at: whoever looks a key up would be led astray by it.
create index workers_unassigned_by_age on workers (created_at)
  where status in ('pending', 'running') and assigned_at is null and stopping_at is null and created_at is not null;
create index workers_stopping on workers (stopping_at) where status in ('pending', 'running') and stopping_at is not null;
-- After which the pool's next workers get more time: most of those that we stop end well, for an idle runner without a registration just leaves.
create index workers_past_deadline on workers (k8s_pool, completed_at) include (stop_reason)
  where completed_at is not null and stop_reason in ('pending_timeout', 'not_registered', 'idle', 'not_assigned');
-- Running jobs are compared with the ends of their workers, however many others wait.
create index jobs_running on jobs (k8s_pod) where status = 'running';
-- What people are shown as stuck, and what was judged wrongly.
create index jobs_recovered on jobs (recovery_attempts) where recovery_attempts > 0 and status in ('pending', 'running');
create index jobs_misjudged on jobs (updated_at) where misjudged;
create index repositories_due on repositories (due_at);
-- Accounts where the App is suspended or gone: no worker is made for them (P5).
create index installations_unusable on installations (entity_id) where suspended_at is not null or deleted_at is not null;
