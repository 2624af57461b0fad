-- What the ending of workers has to remember (A3, E5).
alter table workers
  -- Since when its pod is known to be gone from the cluster.
  add column pod_gone_at timestamptz,
  -- The newest reading of its runner at GitHub, and what readings have said without a break: idle, offline.
  add column runner_checked_at timestamptz,
  add column online_seen_at timestamptz,
  add column idle_since timestamptz,
  add column offline_since timestamptz,
  -- From here on its runner may be gone from GitHub: it is not to be taken back into supply. registration_gone_at follows.
  add column deregistration_started_at timestamptz,
  -- What keeps the worker from being stopped, in a sentence.
  add column stop_held_by text,
  add column stop_held_since timestamptz;

-- Those that may be past a deadline: unassigned for longer than the shortest one. None of its columns is ever updated in a living row but
-- those that other indexes hold too.
-- The last condition says nothing but keeps the index to those who compare created_at: whoever looks a key up would be led astray by it.
create index workers_unassigned_by_age on workers (created_at)
  where status in ('pending', 'running') and assigned_at is null and stopping_at is null and created_at is not null;
create index workers_stopping on workers (stopping_at) where status in ('pending', 'running') and stopping_at is not null;
-- After which the pool's next workers get more time: most of those that we stop end well, for an idle runner without a registration just leaves.
create index workers_past_deadline on workers (k8s_pool, completed_at) include (stop_reason)
  where completed_at is not null and stop_reason in ('pending_timeout', 'not_registered', 'idle', 'not_assigned');
