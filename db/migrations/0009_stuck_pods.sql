-- Pods that do not start or do not go (C8, P5): what keeps one, in one of a closed set of words, and since when. While it does, failure_info
-- tells more of it. `terminating_at` is when the cluster means the pod to be gone.
alter table workers add column stuck_reason text, add column stuck_at timestamptz, add column terminating_at timestamptz;
